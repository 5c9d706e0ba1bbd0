"""What a program is given, and what comes back (S1, S4, S5, S8, S9)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from cheatsheet.sandbox.sandbox import Ending
from tests.sandbox.conftest import Make


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("x = 5", ""),
        ("y = dict(\n a=1\n)", ""),
        ("1 + 1", "2\n"),
        ("x = 2\nx * 21  # the answer", "42\n"),
        ("print(7)", "7\n"),
        ("'text'", "text\n"),
        ("[\n  1,\n][0]", "1\n"),
        ("if True:\n    3", ""),
        ("from __future__ import annotations\ndef f(x: unknown): pass\nf.__annotations__", "{'x': 'unknown'}\n"),
        ("def f():\n    return 1\nif __name__ == '__main__':\n    print(f())", "1\n"),
        ("", ""),
        ("# nothing", ""),
        ("s = '```x```'\nprint(len(s))", "7\n"),  # X07
    ],
)
def test_only_a_final_expression_is_printed(plain: Make, code: str, output: str) -> None:
    """X05, S9"""
    done = plain().run(code)
    assert (done.output, done.ended, done.error, done.exit_code) == (output, Ending.FINISHED, "", 0)


class TestErrors:
    def test_a_program_that_raises(self, plain: Make) -> None:
        """X05: what it raises is what it raised. S1, S5: the output before it comes before it."""
        done = plain().run("print(1)\nraise ValueError('b')")
        assert done.ended is Ending.FAILED
        assert done.error == "The program ended with exit code 1."
        assert done.output == (
            "1\nTraceback (most recent call last):\n"
            '  File "program.py", line 2, in <module>\n'
            "    raise ValueError('b')\nValueError: b\n"
        )

    def test_a_program_that_is_none(self, plain: Make) -> None:
        done = plain().run("def f(:\n")
        assert done.ended is Ending.FAILED
        assert done.output.startswith('  File "program.py", line 1\n    def f(:\n')
        assert "SyntaxError" in done.output

    @pytest.mark.parametrize(
        "code", ["x = '\ud83d'", "\0", "(" * 10_000, "raise RuntimeError('\ud83d')", "\ufeffx = 1"]
    )
    def test_whatever_it_is_there_is_a_result(self, plain: Make, code: str) -> None:
        """S1"""
        plain().run(code).output.encode("utf-8")

    @pytest.mark.parametrize(
        ("code", "exit_code"), [("import sys; sys.exit(3)", 3), ("import sys\nsys.exit('bye')", 1)]
    )
    def test_exit_codes(self, plain: Make, code: str, exit_code: int) -> None:
        done = plain().run(code)
        assert (done.ended, done.exit_code) == (Ending.FAILED, exit_code)
        assert done.error == f"The program ended with exit code {exit_code}."

    @pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (40, "40")])
    def test_signals(self, make: Make, number: int, name: str) -> None:
        """S1: also one without a name."""
        done = make().run(f"import os\nos.kill(os.getpid(), {number})")
        assert (done.ended, done.exit_code) == (Ending.KILLED, None)
        assert done.error == f"The program was ended by the signal {name}."


class TestWhatItIsGiven:
    def test_an_empty_stdin(self, plain: Make) -> None:
        """X09, S4: the end of the input comes at once."""
        done = plain().run("name = input('? ')\nprint(name)")
        assert done.ended is Ending.FAILED
        assert done.output.startswith("? Traceback")
        assert done.output.endswith("EOFError: EOF when reading a line\n")

    def test_no_variable_of_this_process(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """S4"""
        monkeypatch.setenv("SECRET_KEY", "sk-123")
        done = make().run("import os, subprocess\nprint(dict(os.environ))\nsubprocess.run(['env'], check=True)")
        assert "PYTHONUTF8" in done.output
        assert "SECRET" not in done.output
        assert "sk-123" not in done.output

    def test_utf8_whatever_the_locale(self, plain: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """X08"""
        for name in ("LC_ALL", "LANG"):
            monkeypatch.setenv(name, "C")
        monkeypatch.setenv("PYTHONIOENCODING", "ascii")
        code = "open('f', 'w').write('ü')\nprint(open('f').read(), '你', '\\ud83d')"
        assert plain().run(code).output == "ü 你 ?\n"

    def test_bytes_that_are_no_text(self, plain: Make) -> None:
        """X08: what `write` returns is a count, which is not shown."""
        done = plain().run("import sys; sys.stdout.buffer.write(b'ok \\xff\\xfe ' + '你'.encode())")
        assert done.output == "ok \ufffd\ufffd 你"

    def test_a_work_folder_with_nothing_but_itself(self, make: Make) -> None:
        done = make().run("import os\nprint(os.getcwd(), os.listdir())\nprint(os.path.abspath(__file__))")
        assert done.output == "/sandbox ['program.py']\n/sandbox/program.py\n"

    def test_installed_packages(self, make: Make) -> None:
        assert make().run("import numpy\nnumpy.arange(3).sum()").output == "3\n"

    def test_several_processes(self, make: Make) -> None:
        code = (
            "from multiprocessing import Pool\ndef f(x): return x * x\nwith Pool(2) as pool: print(pool.map(f, [1, 2]))"
        )
        assert make().run(code).output == "[1, 4]\n"


class TestOutput:
    def test_much_output_is_read_while_it_is_written(self, plain: Make) -> None:
        """X03: a full pipe is no time-out; the middle is left out, and said to be."""
        done = plain(output_bytes=1000).run("for _ in range(40000): print('0123456789')\nprint('end')")
        assert done.ended is Ending.FINISHED
        assert done.truncated
        assert done.output.startswith("0123456789\n")
        assert "bytes left out" in done.output
        assert done.output.endswith("0123456789\nend\n")
        assert len(done.output.encode()) < 1100

    def test_the_same_program_writes_the_same(self, make: Make) -> None:
        """So that a recorded run can be replayed: the order of sets, names of folders, tracebacks."""
        code = "import tempfile\nprint({'a', 'b', 'c', 'd'}, hash('x'), tempfile.gettempdir())\nraise ValueError"
        sandbox = make()
        assert sandbox.run(code).output == sandbox.run(code).output

    def test_stdout_and_stderr_in_their_order(self, plain: Make) -> None:
        code = "import sys\nfor n in range(3):\n    print(n)\n    print(n, 'err', file=sys.stderr)"
        assert plain().run(code).output == "0\n0 err\n1\n1 err\n2\n2 err\n"


def test_calls_from_several_threads(plain: Make) -> None:
    """S8"""
    sandbox = plain()
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda n: sandbox.run(f"print({n})\nopen('f', 'w').write('{n}')"), range(8)))
    assert [result.output for result in done] == [f"{n}\n" for n in range(8)]


def test_time_is_measured_and_isolation_told(plain: Make) -> None:
    """S7"""
    sandbox = plain()
    done = sandbox.run("x = 1")
    assert done.seconds > 0
    assert done.isolation == sandbox.isolation
    assert not done.timed_out
