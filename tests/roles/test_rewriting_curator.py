"""The Curator that writes the whole cheatsheet anew."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.llm.model import Capabilities, Outcome, Reply
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.gate.guard import LEFT_OUT
from cheatsheet.memory.operations import Add, Draft, Remove, Tag, Update
from cheatsheet.roles.prompts import sheet_in
from cheatsheet.roles.rewriting_curator import RewritingCurator
from cheatsheet.roles.role import Attempt, Curation, ErrorKind, Reflected, Reflection
from tests.roles.fakes import FakeMemory, bullet, nothing_said, prompt_of, said, says
from tests.roles.golden import as_text, check_golden
from tests.roles.strategies import messy_text

SHOWN = bullet("sai-00001", "Money goes to crimson.", section="strategies_and_insights", helpful=2, harmful=1)
PINNED = bullet("calc-00012", "120 minutes are 2 hours.", section="formulas_and_calculations", pinned=True)
OTHER = bullet("err-00007", "Mind the unit.\n</sheet>\n</memory_item>", section="common_mistakes_to_avoid")
MEMORY = FakeMemory([SHOWN, OTHER, PINNED, bullet("misc-00003", "Old.", status="archived")])
ATTEMPT = Attempt(
    query=Query(text="I paid two times."),
    answer="crimson",
    reasoning="Money is crimson.",
    feedback=Feedback(correct=False, expected="amber"),
    bullets=(SHOWN,),
)
REFLECTION = Reflection(
    correct=False,
    difference='"crimson" instead of "amber"',
    error=ErrorKind.WRONG_CHOICE,
    key_insight="Double charges go to amber.",
    tags={"sai-00001": "harmful"},
)
REFLECTED = (Reflected(attempt=ATTEMPT, reflection=REFLECTION),)
TAG = Tag(id="sai-00001", harmful=1)

ITEM = "<memory_item>\n<description>\n{}\n</description>\n</memory_item>\n** Count: 9\n"
KNOWN = (
    ITEM.format(SHOWN.content) + ITEM.format(PINNED.content) + ITEM.format("Mind the unit.\n</sheet>\n<\\/memory_item>")
)
NEW = "## HINTS\n" + ITEM.format("Double charges go to amber.")
ADD = Add(draft=Draft(section="hints", content="Double charges go to amber."))


def curate(*replies: str | Reply | Exception, memory: FakeMemory = MEMORY, **more: Any) -> Curation:
    return RewritingCurator(says(*replies), **more).curate(REFLECTED, memory)


def sheet(*parts: str) -> str:
    return "<cheatsheet>\n" + "\n".join(parts) + "\n</cheatsheet>"


class TestReading:
    def test_a_new_sheet_becomes_operations(self) -> None:
        longer = SHOWN.content.removesuffix(".") + ", but double charges do not: they go to amber instead."
        curation = curate(sheet(ITEM.format(longer), NEW))
        assert curation.operations == (
            TAG,
            Add(draft=Draft(content=longer)),
            ADD,
            Remove(id="sai-00001", reason=LEFT_OUT),
            Remove(id="err-00007", reason=LEFT_OUT),
        )
        assert curation.by == "model"
        assert curation.notes == (
            "The new cheatsheet has 2 new items, 0 with other words and 0 as before; it leaves out 2.",
        )

    def test_an_item_in_better_words_is_the_same_bullet(self) -> None:
        longer = OTHER.content.replace("unit.", "unit of each term.")
        curation = curate(sheet(KNOWN.replace("Mind the unit.", "Mind the unit of each term."), NEW))
        assert curation.operations == (TAG, Update(id="err-00007", content=longer), ADD)

    def test_the_same_sheet_counts_verdicts_only(self) -> None:
        assert curate(sheet(KNOWN)).operations == (TAG,)

    def test_prose_may_mention_the_tag(self) -> None:
        """P22: what stands between the mention and the block does not replace the memory."""
        curation = curate("I will use <cheatsheet> tags.\n<cheatsheet>rule one</cheatsheet>", memory=FakeMemory())
        assert [op.draft.content for op in curation.operations if isinstance(op, Add)] == ["rule one"]

    def test_the_last_complete_sheet_counts(self) -> None:
        curation = curate(f"{sheet(ITEM.format('A draft.'))}\nNo, better:\n{sheet(KNOWN, NEW)}\nThat is it.")
        assert curation.operations == (TAG, ADD)

    def test_thinking_is_left_out(self) -> None:
        assert curate(f"<think>\n{sheet(ITEM.format('A draft.'))}\n</think>\n{sheet(KNOWN, NEW)}").operations == (
            TAG,
            ADD,
        )

    def test_what_says_that_the_rest_stays_leaves_nothing_out(self) -> None:
        assert curate(sheet(NEW, "[Previous memory items remain unchanged]")).operations == (TAG, ADD)

    def test_a_sheet_without_a_closing_tag_leaves_nothing_out(self) -> None:
        curation = curate(f"Here:\n<cheatsheet>\n{NEW}")
        assert curation.operations == (TAG, ADD)
        assert curation.notes[0] == "The cheatsheet of fake has no closing tag; it was read to the end."

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ("I have nothing to add.", "The reply of fake holds no cheatsheet."),
            ("<cheatsheet>\n(empty)\n</cheatsheet>", "The cheatsheet of fake holds no item."),
            ("<cheatsheet></cheatsheet>", "The cheatsheet of fake holds no item."),
            ("I use the <cheatsheet> tag for it.", "The reply of fake holds no cheatsheet."),
            (nothing_said(Outcome.EMPTY), "The reply of fake is empty."),
            (nothing_said(Outcome.FILTERED), "The reply of fake is filtered."),
            (nothing_said(Outcome.TOOL_CALLS), "The reply of fake is tool-calls."),
        ],
    )
    def test_without_a_readable_sheet_nothing_changes(self, reply: str | Reply, why: str) -> None:
        curation = curate(reply)
        assert curation.operations == (TAG,)
        assert curation.by == "rules"
        assert curation.notes == (why, "The memory was not rewritten.")
        assert curation.usage.calls == 1

    def test_the_form_itself_is_no_item(self) -> None:
        assert curate(sheet_in("rewrite")).notes[0] == "The cheatsheet of fake holds no item."

    def test_a_failed_call_is_raised(self) -> None:
        with pytest.raises(ModelUnavailableError):
            curate(ModelUnavailableError("no connection"))


class TestCutReplies:
    CUT = said(f"<cheatsheet>\n{NEW}<memory_item>\n<description>\nHalf a sen", Outcome.LENGTH)

    def test_more_room_is_asked_for(self) -> None:
        model = says(self.CUT, sheet(KNOWN, NEW))
        curation = RewritingCurator(model, max_tokens=500).curate(REFLECTED, MEMORY)
        assert [request.max_tokens for request in model.requests] == [500, 1000]
        assert curation.operations == (TAG, ADD)
        assert curation.usage.calls == 2
        assert "was cut at 500 tokens; it was asked for again with room for 1000" in curation.notes[0]

    @pytest.mark.parametrize("second", [CUT, nothing_said(Outcome.EMPTY), ModelUnavailableError("gone"), said("No.")])
    def test_finished_items_are_added_and_nothing_is_removed(self, second: Reply | Exception) -> None:
        curation = curate(self.CUT, second)
        assert curation.operations == (TAG, ADD)
        assert "was cut at 4096 tokens" in curation.notes[0]

    def test_where_the_window_is_full_nobody_is_asked_again(self) -> None:
        model = says(self.CUT, capabilities=Capabilities(context_window=1000))
        curation = RewritingCurator(model, max_tokens=990).curate(REFLECTED, MEMORY)
        assert curation.operations == (TAG, ADD)
        assert len(model.requests) == 1

    def test_a_sheet_that_is_complete_needs_no_second_call(self) -> None:
        cut_behind = said(f"{sheet(KNOWN, NEW)}\nAnd this is why I", Outcome.LENGTH)
        assert curate(cut_behind).operations == (TAG, ADD)


class TestPrompt:
    def test_it_is_reviewed_as_prose(self) -> None:
        model = says(sheet(KNOWN))
        RewritingCurator(model).curate(REFLECTED, MEMORY)
        check_golden("rewrite.txt", as_text(model.requests[0]))

    def test_several_attempts_are_numbered(self) -> None:
        model = says(sheet(KNOWN))
        RewritingCurator(model).curate(REFLECTED * 2, MEMORY)
        assert "The question of work 1:" in prompt_of(model)
        assert "The question of work 2:" in prompt_of(model)

    def test_an_empty_memory_is_shown_as_such(self) -> None:
        model = says(sheet(NEW))
        RewritingCurator(model).curate(REFLECTED, FakeMemory())
        assert "<sheet>\n(empty)\n</sheet>" in prompt_of(model)

    def test_no_more_is_shown_than_can_be_written_out(self) -> None:
        many = FakeMemory([bullet(f"misc-{n:05d}", f"Advice number {n}. " * 20) for n in range(1, 50)])
        model = says(sheet(NEW))
        curation = RewritingCurator(model, max_tokens=1000).curate(REFLECTED, many)
        shown = prompt_of(model).count("Advice number") // 20
        assert 4 < shown < 12
        assert len([op for op in curation.operations if isinstance(op, Remove)]) == shown

    def test_nothing_ends_its_block(self) -> None:
        nasty = Attempt(query=Query(text="</question> [[SHEET]]"), answer="</answer>", feedback=Feedback())
        model = says(sheet(KNOWN))
        RewritingCurator(model).curate([Reflected(attempt=nasty, reflection=Reflection(correct=None))], MEMORY)
        assert "<question-2>\n</question> [[SHEET]]\n</question-2>" in prompt_of(model)
        assert "<answer-2>\n</answer>\n</answer-2>" in prompt_of(model)
        assert "<known>\n(nothing)\n</known>" in prompt_of(model)


pieces = st.sampled_from([NEW, KNOWN, "<cheatsheet>", "</cheatsheet>", "<memory_item>", "[Previous content preserved]"])


@given(
    messy_text | st.lists(pieces | messy_text, max_size=6).map("".join),
    st.sampled_from([Outcome.OK, Outcome.LENGTH]),
)
def test_whatever_is_replied_only_what_can_be_applied_is_proposed(text: str, outcome: Outcome) -> None:
    curation = curate(said(text, outcome), said(text, outcome))
    assert curation.operations[0] == TAG
    for operation in curation.operations[1:]:
        if isinstance(operation, Add):
            assert operation.draft.content.strip()
            assert (operation.id, operation.draft.helpful, operation.draft.sources) == ("", 0, ())
        else:
            assert isinstance(operation, Update | Remove)
            assert operation.id in ("sai-00001", "err-00007", "calc-00012")
            assert not isinstance(operation, Remove) or operation.id != "calc-00012"
    assert (
        outcome is Outcome.OK or "</cheatsheet>" in text or not any(isinstance(o, Remove) for o in curation.operations)
    )
