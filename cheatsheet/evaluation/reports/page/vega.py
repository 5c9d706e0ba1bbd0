"""Vega-Lite, with all that it needs, as one script that a page can carry."""

from __future__ import annotations

from functools import cache

from cheatsheet.errors import MissingExtraError

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def vega_script() -> str:
    """The script, in the version for which Altair writes its charts.

    Raises:
        MissingExtraError: the packages for charts are not installed.
    """
    try:
        import altair as alt
        import jinja2  # noqa: F401 - the page is made with it; it comes with altair
        import vl_convert  # noqa: F401 - it carries the script that draws, and is asked for in vega_script
    except ImportError as error:
        raise MissingExtraError(
            f"A report as a page needs the package {error.name}, which is not installed: install the extra `report` "
            f"(in a clone: pip install '.[report]'). --markdown and --csv need it not."
        ) from error
    return _bundle(alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0])


@cache
def _bundle(version: str) -> str:
    import vl_convert

    return str(vl_convert.javascript_bundle(_SNIPPET, vl_version=version))
