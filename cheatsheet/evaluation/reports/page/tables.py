"""The tables of a group: as `cheatsheet eval` prints them, each with its name."""

from __future__ import annotations

from collections.abc import Iterator

from cheatsheet.evaluation.reports.page.content import Group
from cheatsheet.evaluation.reports.plain import table_of
from cheatsheet.evaluation.reports.tables import comparison_table, memory_table, pooled_table
from cheatsheet.evaluation.table import Table


def tables_of(group: Group) -> Iterator[tuple[str, Table]]:
    """The arms, their differences to the baseline, and their memories, as far as there are any."""
    if not group.questions:
        return
    alone = len(group.runs) == 1
    summaries = [account.pooled.summaries[0] for account in group.accounts]
    yield "The arms", table_of(summaries) if alone else pooled_table(group.accounts)
    differences, memories = comparison_table(group.accounts), memory_table(group.accounts)
    if differences is not None:
        yield f"Against {group.baseline_name}", differences
    if memories is not None:
        yield "The memories in the end", memories
