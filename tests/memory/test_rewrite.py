"""A whole new cheatsheet as changes of the one that is there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats.format import Entry, Playbook
from cheatsheet.memory.gate.guard import LEFT_OUT
from cheatsheet.memory.gate.rewrite import Rewritten, rewrite_operations
from cheatsheet.memory.operations import Add, Draft, Operation, Remove, Update
from indexes.hashing import HashingEmbedder
from tests.memory.worlds import Memory, add
from tests.roles.fakes import FakeMemory, bullet

DISTANCES = (
    "Geometric Distances: for problems with distances and coordinates use the formula.\n\n"
    "Example:\n1. Square the differences.\n2. Add them up.\n3. Compare squares, so that no roots are needed."
)
CUBES = "Cube Surfaces: count the faces that are seen from the front and from above, and double them."
UNITS = "Check the units of both sides."
SHEET = (bullet("gd-00001", DISTANCES, section="geometry"), bullet("cs-00002", CUBES), bullet("misc-00003", UNITS))


def playbook(*contents: str, section: str = "others") -> Playbook:
    entries = (Entry(draft=Draft(content=text, section=section, helpful=7, sources=("Q1",))) for text in contents)
    return Playbook(format="dc", entries=tuple(entries))


def rewritten(*contents: str, sheet: tuple[Bullet, ...] = SHEET, complete: bool = True) -> Rewritten:
    return rewrite_operations(playbook(*contents), FakeMemory(sheet), shown=sheet, complete=complete)


def changes(*contents: str, sheet: tuple[Bullet, ...] = SHEET) -> list[Operation]:
    """What changes where nothing counts as left out."""
    return list(rewritten(*contents, sheet=sheet, complete=False).operations)


class TestMatching:
    def test_the_same_sheet_changes_nothing(self) -> None:
        result = rewritten(UNITS + " ", DISTANCES.upper(), CUBES)
        assert result.operations == ()
        assert result.ids == ("misc-00003", "gd-00001", "cs-00002")
        assert result.notes == (
            "The new cheatsheet has 0 new items, 0 with other words and 3 as before; it leaves out 0.",
        )

    def test_an_item_with_more_words_is_the_same_bullet(self) -> None:
        longer = UNITS.replace("sides.", "sides and of each term.")
        assert changes(longer) == [Update(id="misc-00003", content=longer)]
        more = DISTANCES.replace("no roots", "no square roots") + "\n4. Check the result."
        assert changes(more) == [Update(id="gd-00001", content=more)]

    def test_a_new_item_is_added_without_counters_and_sources(self) -> None:
        """D09: counters and ids come from the memory alone, and references of a model are no provenance."""
        assert changes("Parity: a sum of odd numbers is odd when their count is.") == [
            Add(draft=Draft(content="Parity: a sum of odd numbers is odd when their count is."))
        ]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Use the batch endpoint for exports.", "Do not use the batch endpoint for exports."),
            ("Write with write_rows.", "Write with write_table."),
            ("Deploy to region north on Mondays.", "Deploy to region south on Mondays."),
            ("Geometry: be careful with distances.", DISTANCES),
            ("Common mistake: forgetting the units.", "Common mistake: wrong signs."),
            ("Retries: use 3 of them.", "Retries: use 5 of them."),
        ],
    )
    def test_what_only_looks_alike_is_new(self, old: str, new: str) -> None:
        assert changes(new, sheet=(bullet("a-1", old),)) == [Add(draft=Draft(content=new))]

    def test_an_item_that_drifted_too_far_is_new(self) -> None:
        """The guard would refuse it as words of this bullet; as a bullet of its own, it is served."""
        drifted = "Geometric Distances: be careful."
        assert changes(drifted) == [Add(draft=Draft(content=drifted))]

    def test_a_drift_in_small_steps_ends_in_a_new_bullet(self) -> None:
        fullest = bullet("misc-00009", DISTANCES, status="archived", metadata={"earlier_wording_of": "gd-00001"})
        lines = DISTANCES.split("\n")
        now = bullet("gd-00001", "\n".join([*lines[:4], "2. Look at the figure from all of its sides."]))
        new = "\n".join([*lines[:2], "Look at the figure from all of its sides, and turn it."])
        memory = FakeMemory([now, fullest])
        result = rewrite_operations(playbook(new), memory, shown=[now], complete=False)
        assert result.operations == (Add(draft=Draft(content=new)),)

    def test_each_bullet_is_one_item_at_most(self) -> None:
        one, two = CUBES + " Then halve.", CUBES + " Then add the base."
        result = rewritten(one, two, complete=False)
        assert sorted(result.ids) == ["", "cs-00002"]
        assert [operation.type for operation in result.operations].count("update") == 1
        assert [operation.type for operation in result.operations].count("add") == 1

    def test_bullets_are_found_by_meaning_where_nobody_says_what_was_shown(self) -> None:
        memory = Memory(HashingEmbedder())
        known = DISTANCES + "\n4. Test with points whose distance is known, such as those of a square of side one."
        memory.commit(add(known), add(UNITS))
        retitled = known.replace("Geometric Distances", "Distances in geometry")
        result = rewrite_operations(playbook(retitled), memory.view, complete=False)
        assert result.operations == (Update(id="misc-00001", content=retitled),)
        memory.store.close()

    def test_the_section_of_a_bullet_stays(self) -> None:
        result = rewrite_operations(
            playbook(DISTANCES, section="other"), FakeMemory(SHEET), shown=SHEET, complete=False
        )
        assert result.operations == ()
        new = rewrite_operations(playbook("Parity matters.", section="other"), FakeMemory(), complete=True)
        assert new.operations == (Add(draft=Draft(content="Parity matters.", section="other")),)


class TestLeftOut:
    def test_what_no_item_stands_for_is_left_out(self) -> None:
        assert rewritten(CUBES).operations == (
            Remove(id="gd-00001", reason=LEFT_OUT),
            Remove(id="misc-00003", reason=LEFT_OUT),
        )

    def test_nothing_is_left_out_of_a_part(self) -> None:
        assert rewritten(CUBES, complete=False).operations == ()

    def test_what_was_not_shown_cannot_be_left_out(self) -> None:
        memory = FakeMemory([*SHEET, bullet("misc-00004", "Not shown.")])
        operations = rewrite_operations(playbook(CUBES, UNITS), memory, shown=SHEET).operations
        assert operations == (Remove(id="gd-00001", reason=LEFT_OUT),)

    def test_pinned_bullets_are_not_left_out(self) -> None:
        sheet = (bullet("a-1", CUBES), bullet("a-2", UNITS, pinned=True))
        assert rewritten(CUBES, sheet=sheet).operations == ()


class TestWordsInThePlaceOfOthers:
    """As in the published runs: what they stand for is put back."""

    def test_a_part_is_put_back(self) -> None:
        text = DISTANCES.partition("\n\nExample:")[0] + "\n\nExample:\n[Previous content preserved...]"
        result = rewritten(text, complete=False)
        assert result.operations == ()
        assert result.ids == ("gd-00001",)
        assert result.contents == (DISTANCES,)

    def test_under_a_title_all_is_put_back(self) -> None:
        text = "Geometric Distances\n[Previous content preserved...]\n\nExample:\n[Previous content preserved]"
        (update,) = changes(text)
        assert isinstance(update, Update)
        assert update.content is not None
        assert update.content.endswith(DISTANCES.partition("\n\n")[2])

    def test_an_addition_is_added(self) -> None:
        text = (
            "Geometric Distances: for problems with distances and coordinates use the formula.\n\n"
            "Example:\n[Previous content preserved with addition:]\n4. Check the result."
        )
        assert changes(text) == [Update(id="gd-00001", content=DISTANCES + "\n4. Check the result.")]

    def test_lines_that_are_there_are_not_doubled(self) -> None:
        text = DISTANCES.replace("2. Add them up.", "[Previous content unchanged]")
        assert changes(text) == []
        beside = DISTANCES.replace("2. Add them up.", "[Previous content unchanged] But use integers.")
        (update,) = changes(beside)
        assert isinstance(update, Update)
        assert (update.content or "").count("Square the differences") == 1
        assert " But use integers.\n2. Add them up.\n3." in (update.content or "")

    def test_dots_in_the_place_of_lines_are_filled(self) -> None:
        text = DISTANCES.replace("2. Add them up.\n", "...\n")
        assert changes(text) == []

    def test_an_item_of_nothing_else_is_left_to_the_guard(self) -> None:
        text = "[Previous content for game theory remains unchanged...]"
        assert changes(text) == [Add(draft=Draft(content=text))]


_texts = st.sampled_from(
    [DISTANCES, CUBES, UNITS, UNITS.upper(), CUBES + " Then halve.", "Parity.", "[…]", "see above"]
)
_contents = (_texts | st.text(min_size=1, max_size=40)).filter(lambda text: text.strip() != "")


@given(st.lists(_contents, max_size=6), st.lists(_contents, max_size=5, unique=True), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_laws(items: list[str], known: list[str], all_shown: bool, complete: bool) -> None:
    sheet = tuple(bullet(f"misc-{n:05d}", text) for n, text in enumerate(known, start=1))
    shown = sheet if all_shown else None
    result = rewrite_operations(playbook(*items), FakeMemory(sheet), shown=shown, complete=complete)
    assert len(result.ids) == len(result.contents) == len(items)
    matched = [id for id in result.ids if id]
    assert len(matched) == len(set(matched))
    removed = [operation.id for operation in result.operations if isinstance(operation, Remove)]
    assert not set(removed) & set(matched)
    assert set(removed) | set(matched) == {each.id for each in sheet} if complete else removed == []
    added = [operation for operation in result.operations if isinstance(operation, Add)]
    assert len(added) == result.ids.count("")
    assert all(operation.draft == Draft(content=operation.draft.content) for operation in added)
    again = rewrite_operations(playbook(*known), FakeMemory(sheet), shown=shown)
    assert again.operations == () or len({text.casefold() for text in known}) < len(known)
