"""The report as one page of HTML that loads nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from cheatsheet import __version__
from cheatsheet.evaluation.reports.page.answers import details_of, index_of
from cheatsheet.evaluation.reports.page.charts import Chart, charts_of
from cheatsheet.evaluation.reports.page.conclusions import Conclusion, conclusion_of, headline
from cheatsheet.evaluation.reports.page.content import Group, Report
from cheatsheet.evaluation.reports.page.facts import facts_of
from cheatsheet.evaluation.reports.page.styles import styles_of
from cheatsheet.evaluation.reports.page.tables import tables_of
from cheatsheet.evaluation.reports.page.vega import vega_script
from cheatsheet.evaluation.reports.page.visible import bound, visible
from cheatsheet.evaluation.table import Table

_SCRIPTS = ("dom", "theme", "tables", "charts", "answers", "detail", "questions")


@dataclass(frozen=True, slots=True)
class _Part:
    """A group as the page shows it."""

    group: Group
    conclusion: Conclusion
    tables: list[tuple[str, Table]]
    charts: list[Chart]


def as_html(report: Report) -> str:
    """The page. It can be encoded in UTF-8, whatever the report holds.

    Raises:
        MissingExtraError: the packages for charts are not installed.
    """
    scripts = (vega_script(), "\n".join(_asset(f"{name}.js") for name in _SCRIPTS))
    baseline = next((group.baseline_name for group in report.groups if group.baseline_name), "")
    styles = styles_of(report.arms, baseline=baseline)
    parts = [
        _Part(group, conclusion_of(group), list(tables_of(group)), charts_of(group, styles)) for group in report.groups
    ]
    return str(
        _template().render(
            report=report,
            headline=headline([part.conclusion for part in parts]),
            parts=parts,
            facts=facts_of(parts[0].group, parts[0].conclusion) if len(parts) == 1 else (),
            styles=styles,
            data=list(_data(report, [chart for part in parts for chart in part.charts])),
            css=_asset("page.css"),
            scripts=scripts,
            policy=_policy(scripts),
            version=__version__,
        )
    )


def _data(report: Report, charts: Sequence[Chart]) -> Iterator[tuple[str, str]]:
    """What the scripts of the page read: the id of an element, and its text."""
    yield "index", _packed(index_of(report))
    yield "charts", _packed({chart.id: chart.spec for chart in charts})
    for number, chunk in enumerate(details_of(report)):
        yield f"details-{number}", _packed(chunk)


def _packed(value: Any) -> str:
    """JSON, compressed, in base64: contexts repeat each other, and nothing in it can be taken for markup."""
    compressed = gzip.compress(json.dumps(value).encode("ascii"), mtime=0)
    return base64.b64encode(compressed).decode("ascii")


def _policy(scripts: Sequence[str]) -> str:
    """What the page may do: run its own scripts, and reach nothing outside of itself."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'" for script in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters |= {"visible": visible, "said": lambda sentence: visible(bound(sentence))}
    return environment.from_string(_asset("page.html"))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
