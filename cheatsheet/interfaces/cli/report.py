"""`report`: what runs came to, as a page, as Markdown or as CSV."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cheatsheet.errors import SetupError
from cheatsheet.interfaces.cli.output import print_note, print_text
from cheatsheet.interfaces.cli.writing import write_whole

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.evaluation.reports.page.content import Report

PAGE = Path("report.html")
_STDOUT = Path("-")


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of runs, or folders that hold some.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"File to write, - for stdout. Default: {PAGE}; stdout for Markdown and CSV.", show_default=False
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown instead of a page.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of a page: one row an answer.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="The arm that others are compared with. Default: default, else the first.", show_default=False
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the report.", show_default=False)] = "",
) -> None:
    """Show what runs came to: whether memory helps, how much, how sure that is, at what cost, and every question.

    The page is one file that loads nothing; it can be mailed, and read on a phone.
    """
    from cheatsheet.evaluation.reports.page.content import report_of
    from cheatsheet.evaluation.reports.page.vega import vega_script
    from cheatsheet.evaluation.runs.reading import find_runs

    if markdown and as_csv:
        raise SetupError("--markdown and --csv cannot be given together: choose one.")
    is_page = not (markdown or as_csv)
    if is_page:
        vega_script()  # what is missing is told before much is read
    content = report_of(find_runs(runs), baseline=baseline, title=title)
    place = out or (PAGE if is_page else _STDOUT)
    _write(_csv(content) if as_csv else _markdown(content) if markdown else _page(content), place)
    if is_page and place != _STDOUT:
        _tell(content)
    if place != _STDOUT:
        print_note(f"Report: {place}")


def _page(content: Report) -> str:
    from cheatsheet.evaluation.reports.page.html import as_html

    return as_html(content)


def _markdown(content: Report) -> str:
    from cheatsheet.evaluation.reports.page.markdown import as_markdown_report

    return as_markdown_report(content)


def _csv(content: Report) -> str:
    from cheatsheet.evaluation.reports.page.spreadsheet import write_csv

    text = io.StringIO(newline="")
    write_csv(content, text)
    return text.getvalue()


def _tell(content: Report) -> None:
    """The answers in sentences."""
    from cheatsheet.evaluation.reports.page.conclusions import conclusion_of

    for group in content.groups:
        conclusion = conclusion_of(group)
        told = (f"{conclusion.verdict}.", *conclusion.sentences[:2], group.unfinished)
        print_text(f"{group.name}: {' '.join(filter(None, told))}")


def _write(text: str, place: Path) -> None:
    """Line ends stay as they are; half a surrogate pair, which cannot be encoded, becomes an escape."""
    data = text.encode("utf-8", errors="backslashreplace")
    if place == _STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    try:
        write_whole(place, data)
    except OSError as error:
        raise SetupError(
            f"The report cannot be written to {place}: {error.strerror}. Choose another file with --out."
        ) from error
