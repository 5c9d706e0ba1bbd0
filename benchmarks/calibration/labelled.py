"""Pairs and questions of our own, labelled, in English and Chinese.

`pairs.jsonl` holds two pieces of advice a line, as they stand in an agent's memory:

- `same`: either could stand for the other;
- `near`: one topic, other advice: another number, name, object or action, or a condition more;
- `opposite`: one says the reverse of the other: a negation, an opposite word, the other order or comparison.

`questions.jsonl` holds what an agent may be asked, with the pairs whose *first* piece of advice helps; some have none.
All were written by one hand, which knew the rules of `sameness`, before anything was measured on them; neither they nor
the rules were changed afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from benchmarks.calibration.grouping import grouped
from cheatsheet.evaluation import jsonl

PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
QUESTIONS: Final = Path(__file__).with_name("questions.jsonl")

Label = Literal["same", "near", "opposite", "reworded", "side by side"]
"""The first three are ours; the last two are what published runs did (`benchmarks.calibration.published`)."""

SAYS_SAME: Final[frozenset[Label]] = frozenset(("same", "reworded"))
"""Labels of pairs that should become one bullet; all others should stay two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two pieces of advice, and whether they are one.

    Attributes:
        group: the language, `en` or `zh`; `published` for pairs of published runs.
        domain: `maths`, `code`, `support`, `api` or `finance`; empty for published ones.
        change: what differs, such as `negation` or `number`; empty for published ones.
    """

    id: str
    group: str
    label: Label
    first: str
    second: str
    domain: str = ""
    change: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether we labelled it, and no published run did."""
        return bool(self.change)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Questions that are put to a memory, and which of its texts answer each.

    Attributes:
        group: where they come from; counts of one group are added up.
        texts: what the memory holds.
        answers: for each question, places in `texts`; none where nothing that is known answers it.
    """

    group: str
    questions: tuple[str, ...]
    texts: tuple[str, ...]
    answers: tuple[frozenset[int], ...]


def read_pairs() -> tuple[Pair, ...]:
    """The labelled pairs, in the order of their file."""
    return tuple(Pair(group=row.pop("language"), **row) for row in _rows(PAIRS))


def read_lookups(others: tuple[str, ...] = ()) -> tuple[Lookup, ...]:
    """The labelled questions, put to the first texts of all pairs together with `others`, which answer none of them.

    One lookup for each language: `en`, `zh`, and `zh-en`, asked in Chinese of what is known in English only.
    """
    pairs = read_pairs()
    places = {pair.id: place for place, pair in enumerate(pairs)}
    texts = (*(pair.first for pair in pairs), *others)
    return tuple(
        Lookup(
            group=f"questions {language}",
            questions=tuple(row["question"] for row in asked),
            texts=texts,
            answers=tuple(frozenset(places[id] for id in row["answers"]) for row in asked),
        )
        for language, asked in grouped(_rows(QUESTIONS), lambda row: str(row["language"])).items()
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return [record.value for record in jsonl.parse(path.read_bytes(), source=path.name).records]
