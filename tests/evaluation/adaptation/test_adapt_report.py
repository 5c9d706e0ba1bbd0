"""The report of an adaptation, as people read it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from cheatsheet.evaluation.adaptation.course import Adaptation, Epoch
from cheatsheet.evaluation.adaptation.report import show
from cheatsheet.evaluation.metrics import summarise_rows
from cheatsheet.evaluation.runs.spec import AdaptSpec, TaskSpec
from tests.evaluation.fakes import NOON
from tests.evaluation.streams import rows_of

GOLDEN = Path(__file__).parents[2] / "golden"


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
TESTED = replace(
    JUDGED,
    spec=SPEC.model_copy(update={"test": TaskSpec(name="x", sha256="1")}),
    epochs=(
        replace(JUDGED.epochs[0], test=summarise_rows("test", rows_of("+-+-", model_calls=1, cost_usd=0.0002))),
        replace(JUDGED.epochs[1], test=summarise_rows("test", rows_of("+++-", model_calls=1, cost_usd=0.0002))),
        JUDGED.epochs[2],
    ),
)
PARTLY_RIGHT = replace(
    JUDGED,
    epochs=(
        JUDGED.epochs[0],
        replace(
            JUDGED.epochs[1],
            validation=summarise_rows("v", [row.model_copy(update={"score": 0.75}) for row in rows_of("++++")]),
        ),
    ),
)
UNJUDGED = replace(
    JUDGED,
    epochs=(_epoch(0, "", "", bullets=3, version=7), _epoch(1, "+-", "", bullets=4, version=9)),
    best=None,
    kept=1,
)


@pytest.mark.parametrize(("name", "adaptation"), [("judged", JUDGED), ("tested", TESTED), ("unjudged", UNJUDGED)])
def test_the_report(name: str, adaptation: Adaptation) -> None:
    pipe = io.StringIO()
    show(adaptation, pipe)
    assert pipe.getvalue() == (GOLDEN / f"adapt_{name}.txt").read_text(encoding="utf-8")


def test_partly_right_answers_are_told_by_their_mean_score() -> None:
    pipe = io.StringIO()
    show(PARTLY_RIGHT, pipe)
    told = pipe.getvalue()
    assert "75.0 %" in told
    assert "Answers can be partly right: all shares are mean scores." in told
    assert "so that its mean score is a little too good." in told
