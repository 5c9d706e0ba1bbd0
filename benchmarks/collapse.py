"""What our memory keeps of the published runs of Dynamic Cheatsheet, next to what their own cheatsheets kept.

    python -m benchmarks.collapse ../shared/data/dc_runs [--json] [--merges FILE] [--embedder hashing]

Each `Cumulative` and `RetrievalSynthesis` run is replayed: the cheatsheet that the authors' model wrote at each step is
given to a memory of ours as the curator's proposal. It is read (`DynamicCheatsheetFormat`), turned into operations
(`rewrite_operations`), taken in as an engine does (grown, judged by the guard) and committed to a store.

An *item* is a `<memory_item>`. Two items are the same when their description and example are equal but for case and
white space; references (`(Reference: Q1-Q7)`), counts and headings do not count. Words such as "[Previous content
preserved…]" are not part of an item, and an item that has no others besides a title is none: it points to another one.

Where each distinct item is in the end is looked up in the journal and the bullets alone (`collapse_account`):

- `active`, `archived`: a bullet has the item's own words. Where part of an item only pointed to what stood there
  before, a bullet has all lines of the rest.
- `merged`: the words became others by updates and merges that the journal names; the bullet that has them now holds
  at least half of the item's words. `--merges FILE` names each (JSON Lines: run, item, bullet, held, steps).
- `lost`: none of these.

The four add up to the items that ever appeared.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from benchmarks.collapse_account import Fate, Found, Item, account, items_of
from cheatsheet.engine.intake import take_in
from cheatsheet.engine.options import EngineOptions
from cheatsheet.errors import SetupError
from cheatsheet.memory.formats.dynamic_cheatsheet import DynamicCheatsheetFormat
from cheatsheet.memory.gate.guard import GuardPolicy
from cheatsheet.memory.gate.rewrite import rewrite_operations
from cheatsheet.memory.gate.stand_ins import stand_ins
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.search.exact import exact_retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import DEFAULT_NAMESPACE
from cheatsheet.memory.store_view import StoreView
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder

KINDS = ("DynamicCheatsheet_Cumulative", "DynamicCheatsheet_RetrievalSynthesis")
START = datetime(2026, 1, 1, tzinfo=UTC)
SUFFIXES = (".jsonl.gz", ".jsonl")


@dataclass(frozen=True, slots=True)
class Run:
    """One published run.

    Attributes:
        cheatsheets: after each step, as the model wrote them.
        questions: of each step, without the words that the authors put around them.
    """

    name: str
    cheatsheets: tuple[str, ...]
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left of the items of a run.

    Attributes:
        items_ever: distinct items that ever appeared.
        items_theirs_final: of them, those in the authors' last cheatsheet.
        items_ours_active, items_ours_archived: of them, those that our memory holds in their own words.
        merges: of them, those that live on in another bullet or in other words.
        lost: of them, those that are nowhere.
    """

    run: str
    steps: int
    items_ever: int
    items_theirs_final: int
    items_ours_active: int
    items_ours_archived: int
    merges: int
    lost: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the published runs (*.jsonl.gz)")
    parser.add_argument("--embedder", choices=("auto", "hashing"), default="auto", help="hashing takes less time")
    parser.add_argument("--left-out", choices=("keep", "archive"), default="keep", help="what the guard's policy says")
    parser.add_argument("--merges", type=Path, metavar="FILE", help="name every merge in this file (JSON Lines)")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    embedder, policy = make_embedder(options.embedder), GuardPolicy(left_out=options.left_out)
    outcomes: list[Outcome] = []
    merges: list[str] = []
    for run in read_runs(options.folder):
        found = replay(run, embedder, policy)
        outcomes.append(outcome_of(run, found))
        merges += [_merge_line(run, item) for item in found if item.fate == "merged"]
    if options.merges:
        options.merges.write_text("".join(merges), encoding="utf-8")
    print(json.dumps([asdict(outcome) for outcome in outcomes], indent=2) if options.json else as_table(outcomes))


def make_embedder(name: Literal["auto", "hashing"]) -> Embedder:
    """The default embedding model, or the one that needs no model."""
    if name == "hashing":
        from indexes.hashing import HashingEmbedder

        return HashingEmbedder()
    from indexes.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder()


def read_runs(folder: Path) -> Iterator[Run]:
    """The runs of the two kinds in a folder, by name, each read when its turn comes.

    Raises:
        SetupError: there are none.
    """
    paths = sorted(path for path in folder.glob("*") if path.name.endswith(SUFFIXES) and _kind(path))
    if not paths:
        raise SetupError(f"There is no published run in {folder}. Name the folder with *_{KINDS[0]}.jsonl.gz files.")
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
        name = next(path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix))
        cheatsheets, questions = (tuple(row.get(field) or "" for row in rows) for field in ("cheatsheet", "raw_input"))
        yield Run(name, cheatsheets, questions)


def replay(run: Run, embedder: Embedder, policy: GuardPolicy) -> list[Found]:
    """Give every cheatsheet to a new memory as a proposal, and look up every item that ever appeared."""
    store = SqliteStore(":memory:")
    try:
        cached = CachedEmbedder(embedder, store)
        retriever = exact_retriever(store, cached, namespace=DEFAULT_NAMESPACE)
        view = StoreView(store, retriever, namespace=DEFAULT_NAMESPACE)
        for step, text in enumerate(run.cheatsheets, start=1):
            _notice(f"\r{run.name}: step {step} of {len(run.cheatsheets)}")
            _propose(text, step, store, view, cached, policy)
        _notice("\n")
        return account(_distinct(run.cheatsheets), view.bullets(status=None), store.journal(DEFAULT_NAMESPACE))
    finally:
        store.close()


def _propose(
    text: str, step: int, store: SqliteStore, view: StoreView, embedder: Embedder, policy: GuardPolicy
) -> None:
    """One step: what a curator that wrote this text would have changed."""
    playbook = DynamicCheatsheetFormat().read(text)
    embedder.embed([entry.draft.content for entry in playbook.entries], "document")  # at once takes less time
    rewritten = rewrite_operations(playbook, view, complete=not stand_ins(text), policy=policy)
    taken = take_in(rewritten.operations, view, embedder, EngineOptions(guard=policy), cause="turn")
    at = START + timedelta(minutes=step)
    change = Change(at=at, cause="turn", turn_id=f"step {step}", mode="cumulative", operations=taken.operations)
    store.commit(DEFAULT_NAMESPACE, change)


def outcome_of(run: Run, found: Sequence[Found]) -> Outcome:
    """The figures of a run."""
    count = {fate: sum(item.fate == fate for item in found) for fate in get_args(Fate)}
    return Outcome(
        run=run.name,
        steps=len(run.cheatsheets),
        items_ever=len(found),
        items_theirs_final=len(_distinct(run.cheatsheets[-1:])),
        items_ours_active=count["active"],
        items_ours_archived=count["archived"],
        merges=count["merged"],
        lost=count["lost"],
    )


def as_table(outcomes: Sequence[Outcome]) -> str:
    """A Markdown table, with a last line for all runs together."""
    total = [sum(list(asdict(outcome).values())[column] for outcome in outcomes) for column in range(1, 8)]
    lines = [
        "| run | steps | items ever | theirs at the end | ours active | ours archived | merged | lost |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows = [list(asdict(outcome).values()) for outcome in outcomes]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in [*rows, ["all", *total]]]
    return "\n".join(lines)


def _distinct(cheatsheets: Sequence[str]) -> list[Item]:
    items: dict[str, Item] = {}
    for text in cheatsheets:
        for item in items_of(text):
            if item.whole or item.key not in items:
                items[item.key] = item
    return list(items.values())


def _kind(path: Path) -> bool:
    return any(kind in path.name for kind in KINDS)


def _merge_line(run: Run, found: Found) -> str:
    line: dict[str, object] = {"run": run.name, "item": found.item.key, "bullet": found.bullet}
    line |= {"held": round(found.held, 2), "steps": found.steps}
    return json.dumps(line, ensure_ascii=False) + "\n"


def _notice(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
