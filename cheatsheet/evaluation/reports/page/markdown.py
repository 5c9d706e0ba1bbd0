"""The report as Markdown, for a README or a pull request."""

from __future__ import annotations

import re

from cheatsheet.evaluation.reports.page.conclusions import conclusion_of, headline
from cheatsheet.evaluation.reports.page.content import Report
from cheatsheet.evaluation.reports.page.tables import tables_of
from cheatsheet.evaluation.table import as_markdown

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~])")


def as_markdown_report(report: Report) -> str:
    """The answers in sentences, and the tables; ends with a line feed."""
    conclusions = [conclusion_of(group) for group in report.groups]
    parts = [f"# {plain(report.title)}", f"**{headline(conclusions)}.**"]
    for group, conclusion in zip(report.groups, conclusions, strict=True):
        parts += [f"## {plain(group.name)}", plain(" ".join(conclusion.sentences)), plain(group.subtitle)]
        parts += [f"**{plain(group.unfinished)}**"] if group.unfinished else []
        for name, table in tables_of(group):
            parts += [f"### {plain(name)}", as_markdown(table).rstrip("\n")]
    lines = "\n".join(f"- {plain(line)}" for line in (*report.notes, *report.runs))
    return "\n\n".join([*parts, "## Runs", lines]) + "\n"


def plain(text: str) -> str:
    """A text in one line in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
