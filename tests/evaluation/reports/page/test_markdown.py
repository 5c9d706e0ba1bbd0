"""The report as Markdown."""

from __future__ import annotations

from cheatsheet.evaluation.reports.page.content import Report
from cheatsheet.evaluation.reports.page.markdown import as_markdown_report, plain


def test_it_answers_first_and_shows_the_tables_after(three_orders: Report) -> None:
    text = as_markdown_report(three_orders)
    lines = text.splitlines()
    assert lines[:3] == ["# Memory on colours", "", "**Memory helps here.**"]
    assert lines[6].startswith("retrieval scores 63.3 points more than default")
    headings = [line for line in lines if line.startswith("#")]
    assert headings == [
        "# Memory on colours",
        "## colours",
        "### The arms",
        "### Against default",
        "### The memories in the end",
        "## Runs",
    ]
    assert text.endswith("cheatsheet 0.1.0.\n")


def test_nothing_in_a_name_is_markup(hostile: Report) -> None:
    text = as_markdown_report(hostile)
    assert "<script" not in text.replace("\\<script", "")
    assert "\n# heading" not in text


def test_plain() -> None:
    assert plain("a *b*\n# c | d [e](f) `g` <h>") == r"a \*b\* \# c \| d \[e\](f) \`g\` \<h\>"
