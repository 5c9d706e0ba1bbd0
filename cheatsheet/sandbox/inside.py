"""Runs one program, in the process that the limits bind; started from its source text (`python -c`).

Arguments: the number of the file descriptor that holds the program, and of the one to which the limit is written that
ended it, as a value of `Ending`; nothing is written where no limit did. It imports nothing of this package, which the
process cannot see, and little of anything else, because each run waits for it.
"""

from __future__ import annotations

import ast
import errno
import os
import sys
import types

NAME = "program.py"
# What a failed call of the program says about the limit that it met.
_LIMIT_OF_ERRNO = {
    errno.EFBIG: "files",
    errno.ENOSPC: "files",
    errno.EMFILE: "open-files",
    errno.EAGAIN: "processes",
    errno.ENOMEM: "memory",
}


def main(source_fd: int, limit_fd: int) -> None:
    """Run the program; its exit code becomes that of this process."""
    with open(source_fd, "rb") as file:
        source = file.read()
    os.set_inheritable(limit_fd, False)
    own_process = os.getpid()
    namespace = _main_module(source)
    try:
        _execute(source, namespace)
    except SystemExit:
        raise
    except BaseException as error:  # whatever a program raises is its result
        if os.getpid() == own_process:
            os.write(limit_fd, _limit(error).encode())
        _show(error, source, namespace)
        sys.exit(1)


def _main_module(source: bytes) -> dict[str, object]:
    """A fresh `__main__`, with the program as its file, for what looks at the source (inspect, multiprocessing)."""
    with open(NAME, "wb") as file:  # noqa: PTH123  # pathlib takes longer to import than the file to write
        file.write(source)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files here
    module = types.ModuleType("__main__")
    module.__file__ = os.path.abspath(NAME)  # noqa: PTH100  # as above
    sys.modules["__main__"] = module
    sys.argv = [NAME]
    return module.__dict__


def _execute(source: bytes, namespace: dict[str, object]) -> None:
    """Run all statements as they are; print the value of a final expression, unless it is None."""
    tree = ast.parse(source, NAME)
    final = tree.body.pop() if tree.body and _has_value(tree.body[-1]) else None
    statements = compile(tree, NAME, "exec", dont_inherit=True)
    exec(statements, namespace)
    if isinstance(final, ast.Expr):
        flags = statements.co_flags & _future_flags()  # what `from __future__` said at the top holds here too
        value = eval(compile(ast.Expression(final.value), NAME, "eval", flags, dont_inherit=True), namespace)
        if value is not None:
            print(value)


def _has_value(statement: ast.stmt) -> bool:
    """True for an expression, unless it is there to write: what `write` returns is only a count."""
    if not isinstance(statement, ast.Expr):
        return False
    call = statement.value
    return not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "write")


def _future_flags() -> int:
    import __future__

    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return flags


def _limit(error: BaseException) -> str:
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error)):
        return "memory"  # a thread that cannot start has no room for its stack
    return _LIMIT_OF_ERRNO.get(error.errno or 0, "") if isinstance(error, OSError) else ""


def _show(error: BaseException, source: bytes, namespace: dict[str, object]) -> None:
    """Write the traceback as Python would have written it for the program alone."""
    if isinstance(error, MemoryError):
        namespace.clear()  # makes room for writing about it
    try:
        import linecache
        import traceback

        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[NAME] = (len(source), None, lines, NAME)
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != NAME:  # our own frames
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
    except MemoryError:
        os.write(2, b"MemoryError\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
