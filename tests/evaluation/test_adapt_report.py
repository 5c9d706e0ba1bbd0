"""The report of an adaptation, as people read it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from cheatsheet.evaluation.adapt_report import show
from cheatsheet.evaluation.course import Adaptation, Epoch
from cheatsheet.evaluation.metrics import summarise_rows
from cheatsheet.evaluation.spec import AdaptSpec, TaskSpec
from tests.evaluation.fakes import NOON
from tests.evaluation.test_metrics import rows_of

GOLDEN = Path(__file__).parents[1] / "golden"


def _epoch(number: int, train: str, validation: str, *, bullets: int, version: int) -> Epoch:
    return Epoch(
        number=number,
        train=summarise_rows("train", rows_of(train, model_calls=3, cost_usd=0.001)) if train else None,
        validation=summarise_rows("validation", rows_of(validation, model_calls=1, cost_usd=0.0002))
        if validation
        else None,
        bullets=bullets,
        version=version,
    )


SPEC = AdaptSpec(
    train=TaskSpec(name="t", sha256="0"), validation=None, epochs=2, batch_size=1, scorer="exact", created_at=NOON
)
JUDGED = Adaptation(
    spec=SPEC,
    folder=Path("runs/a"),
    epochs=(
        _epoch(0, "", "+---------", bullets=0, version=0),
        _epoch(1, "-+-+++++", "++++++++--", bullets=6, version=8),
        _epoch(2, "+++!++++", "+++++-----", bullets=1_204, version=15),
    ),
    best=1,
    kept=1,
    bullets=6,
    version=16,
)
UNJUDGED = replace(
    JUDGED,
    epochs=(_epoch(0, "", "", bullets=3, version=7), _epoch(1, "+-", "", bullets=4, version=9)),
    best=None,
    kept=1,
)


@pytest.mark.parametrize(("name", "adaptation"), [("judged", JUDGED), ("unjudged", UNJUDGED)])
def test_the_report(name: str, adaptation: Adaptation) -> None:
    pipe = io.StringIO()
    show(adaptation, pipe)
    assert pipe.getvalue() == (GOLDEN / f"adapt_{name}.txt").read_text(encoding="utf-8")
