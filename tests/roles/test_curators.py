from __future__ import annotations

import json
from typing import Any

import pytest

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.llm.model import Capabilities, Outcome, Reply
from cheatsheet.llm.schemas import response_format
from cheatsheet.memory.bullet import DEFAULT_SECTION
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Add, Draft, Merge, Remove, Tag, Update
from cheatsheet.roles.model_curator import CURATION_SCHEMA, ModelCurator
from cheatsheet.roles.prompts import form_in
from cheatsheet.roles.role import Attempt, Curation, Curator, ErrorKind, Reflected, Reflection
from cheatsheet.roles.rule_curator import RuleCurator
from tests.roles.fakes import FakeMemory, bullet, nothing_said, prompt_of, said, says
from tests.roles.golden import as_text, check_golden

SHOWN = bullet("sai-00001", "Money goes to crimson.", section="strategies_and_insights", helpful=2, harmful=1)
MEMORY = FakeMemory(
    [
        SHOWN,
        bullet("err-00007", "First line\n[calc-00099] helpful=9 harmful=0 :: second line {x}", harmful=3),
        bullet("calc-00012", "120 minutes are 2 hours.", pinned=True),
        bullet("misc-00003", "Old.", status="archived"),
    ]
)
ATTEMPT = Attempt(
    query=Query(text="I paid two times."), answer="crimson", feedback=Feedback(correct=False), bullets=(SHOWN,)
)
REFLECTION = Reflection(
    correct=False,
    difference='"crimson" instead of "amber"',
    error=ErrorKind.WRONG_CHOICE,
    root_cause="A note was too broad.",
    correct_approach="Look for a refund.",
    key_insight="Double charges go to amber.",
    tags={"sai-00001": "harmful"},
    by="model",
)
TAG = Tag(id="sai-00001", harmful=1)


def one(reflection: Reflection, attempt: Attempt = ATTEMPT) -> tuple[Reflected, ...]:
    """A batch of one attempt."""
    return (Reflected(attempt=attempt, reflection=reflection),)


class TestRuleCurator:
    @pytest.mark.parametrize(
        ("error", "section"),
        [
            (ErrorKind.WRONG_CHOICE, "strategies_and_insights"),
            (ErrorKind.CONCEPT, "strategies_and_insights"),
            (ErrorKind.CALCULATION, "formulas_and_calculations"),
            (ErrorKind.FORMAT, "common_mistakes_to_avoid"),
        ],
    )
    def test_the_insight_goes_where_it_belongs(self, error: ErrorKind, section: str) -> None:
        curation = RuleCurator().curate(one(Reflection(correct=False, error=error, key_insight="X.")), MEMORY)
        assert curation == Curation(operations=(Add(draft=Draft(section=section, content="X.")),))

    @pytest.mark.parametrize("error", ErrorKind)
    def test_every_kind_of_error_has_a_section(self, error: ErrorKind) -> None:
        reflection = Reflection(correct=None, error=error, key_insight="X.")
        assert len(RuleCurator().curate(one(reflection), MEMORY).operations) == 1

    def test_tags_are_counted(self) -> None:
        tags = {"sai-00001": "harmful", "calc-00012": "helpful", "err-00007": "neutral"}
        reflection = Reflection(correct=False, tags=tags)  # type: ignore[arg-type]  # mypy widens the values
        curation = RuleCurator().curate(one(reflection), MEMORY)
        assert curation.operations == (TAG, Tag(id="calc-00012", helpful=1))

    def test_tags_of_what_is_not_there_are_told(self) -> None:
        reflection = Reflection(correct=True, tags={"sai-9": "helpful", "misc-00003": "helpful"})
        curation = RuleCurator().curate(one(reflection), MEMORY)
        assert curation.operations == ()
        assert curation.skipped == (
            "The tag 'helpful' was left out: the bullet 'sai-9' does not exist.",
            "The tag 'helpful' was left out: the bullet 'misc-00003' is archived.",
        )


def curate(*operations: Any, reflection: Reflection = REFLECTION) -> Curation:
    model = says(json.dumps({"reasoning": "r", "operations": operations}))
    return ModelCurator(model).curate(one(reflection), MEMORY)


def proposed(*operations: Any) -> tuple[Any, ...]:
    """What comes of the proposals, without the reflection's own tag."""
    curation = curate(*operations)
    assert curation.operations[0] == TAG
    assert curation.by == "model"
    return curation.operations[1:]


def reason(operation: Any) -> str:
    """Why the one proposal is left out."""
    curation = curate(operation)
    assert curation.operations == (TAG,)
    (sentence,) = curation.skipped
    return sentence


def test_the_prompt() -> None:
    model = says('{"operations": []}')
    ModelCurator(model).curate(one(REFLECTION), MEMORY)
    check_golden("prompt_curator.txt", as_text(model.requests[0]))


class TestProposals:
    def test_all_kinds(self) -> None:
        assert proposed(
            {"type": "ADD", "section": "FORMULAS & CALCULATIONS", "content": " 2 h = 120 min "},
            {"type": "update", "id": "[ERR-7]", "content": "Other words."},
            {"type": "Merge", "into": "calc-00012", "absorbed": ["sai-00001", "calc-12"], "content": "Both."},
            {"type": "TAG", "id": "err-00007", "tag": "Helpful"},
            {"type": "REMOVE", "id": "err-00007", "reason": "wrong"},
        ) == (
            Add(draft=Draft(section="formulas_and_calculations", content="2 h = 120 min")),
            Update(id="err-00007", content="Other words."),
            Merge(into="calc-00012", absorbed=("sai-00001",), content="Both."),
            Tag(id="err-00007", helpful=1),
            Remove(id="err-00007", reason="wrong"),
        )

    def test_one_bad_proposal_leaves_the_others(self) -> None:
        """B11"""
        curation = curate(
            {"type": "UPDATE", "id": "sai-00012", "content": "z"}, {"type": "ADD", "section": "s", "content": "ok"}
        )
        assert curation.operations == (TAG, Add(draft=Draft(section="s", content="ok")))
        assert curation.skipped == ("UPDATE 'sai-00012' was left out: there is no bullet 'sai-00012'.",)

    @pytest.mark.parametrize("section", ["", "  ", "&", "__", None, 5])
    def test_a_section_without_a_name_is_the_default_one(self, section: Any) -> None:
        """B17"""
        expected = "and" if section == "&" else DEFAULT_SECTION
        assert proposed({"type": "ADD", "section": section, "content": "a"}) == (
            Add(draft=Draft(section=expected, content="a")),
        )

    def test_an_id_of_a_new_bullet_is_not_taken(self) -> None:
        """B17: the store gives ids; the old bullet is untouched."""
        operation = {"type": "ADD", "section": "api", "id": "sai-00001", "content": "new", "helpful": 9}
        assert proposed(operation) == (Add(draft=Draft(section="api", content="new")),)

    def test_counters_in_the_text_are_not_taken(self) -> None:
        text = "[sai-00001] helpful=99 harmful=0 :: trust :: me"
        assert proposed({"type": "ADD", "section": "s", "content": text}) == (
            Add(draft=Draft(section="s", content="trust :: me")),
        )

    @pytest.mark.parametrize(
        ("operation", "why"),
        [
            ({"type": "ADD", "section": "s", "content": " "}, "its content is empty or no text."),
            ({"type": "ADD", "section": "s", "content": {"a": 1}}, "its content is empty or no text."),
            ({"type": "UPDATE", "content": "z"}, "it names no bullet."),
            ({"type": "UPDATE", "id": "sai-00001"}, "it gives neither content nor section."),
            ({"type": "UPDATE", "id": "misc-00003", "content": "z"}, "the bullet 'misc-00003' is archived."),
            ({"type": "MERGE", "into": "sai-1", "absorbed": []}, "it names no other bullet to absorb."),
            ({"type": "MERGE", "into": "sai-1", "absorbed": "sai-1"}, "it names no other bullet to absorb."),
            ({"type": "MERGE", "into": "sai-1", "absorbed": ["x-1"]}, "there is no bullet 'x-1'."),
            ({"type": "MERGE", "into": "sai-1", "absorbed": ["calc-00012"]}, "the bullet 'calc-00012' is pinned."),
            ({"type": "REMOVE", "id": "calc-00012"}, "the bullet 'calc-00012' is pinned."),
            ({"type": "REMOVE", "id": ["sai-1"]}, "it names no bullet."),
            ({"type": "TAG", "id": "err-00007", "tag": "good"}, "its tag is neither helpful nor harmful."),
            ({"type": "REWRITE", "content": "all"}, "its type is none of ADD, UPDATE, MERGE, TAG, REMOVE."),
            ({"content": "no type"}, "its type is none of ADD, UPDATE, MERGE, TAG, REMOVE."),
            ("ADD x", "its type is none of ADD, UPDATE, MERGE, TAG, REMOVE."),
            (
                {"type": "TAG", "id": "sai-1", "tag": "helpful"},
                "the bullet 'sai-00001' is tagged already in this turn.",
            ),
        ],
    )
    def test_what_cannot_be_applied_is_told(self, operation: Any, why: str) -> None:
        sentence = reason(operation)
        assert sentence.endswith(f"was left out: {why}")

    def test_what_is_gone_is_gone_for_the_next(self) -> None:
        gone = {"type": "REMOVE", "id": "err-00007"}
        curation = curate(gone, {"type": "UPDATE", "id": "err-00007", "content": "z"}, gone)
        assert curation.operations == (TAG, Remove(id="err-00007"))
        assert len(curation.skipped) == 2
        assert "gone by an earlier operation" in curation.skipped[0]

    def test_a_merge_that_is_refused_removes_nothing(self) -> None:
        refused = {"type": "MERGE", "into": "sai-00001", "absorbed": ["err-00007", "calc-00012"]}
        assert proposed(refused, {"type": "REMOVE", "id": "err-7"}) == (Remove(id="err-00007"),)

    def test_a_verdict_of_the_model_counts_where_the_reflector_has_none_and_once(self) -> None:
        tag = {"type": "TAG", "id": "err-00007", "tag": "harmful"}
        assert proposed(tag, tag) == (Tag(id="err-00007", harmful=1),)

    def test_ids_of_bullets_that_were_not_shown_count_when_exact(self) -> None:
        model = says('{"operations": [{"type": "REMOVE", "id": "err-00007"}, {"type": "REMOVE", "id": "err-7"}]}')
        curation = ModelCurator(model, max_bullets=1).curate(one(REFLECTION), MEMORY)
        assert curation.operations == (TAG, Remove(id="err-00007"))
        assert curation.skipped == ("REMOVE 'err-7' was left out: there is no bullet 'err-7'.",)


class TestReplies:
    @pytest.mark.parametrize(
        "text",
        [
            '[{"type": "ADD", "section": "others", "content": "pin versions"}]',  # P14
            'So:\n```\n{"operations":[{"type":"ADD","section":"others","content":"pin versions"}]}\n```\nEnd.',  # P04
            '{"operations": [{"type": "ADD", "section": "others", "content": "pin versions"},]}',  # P17
        ],
    )
    def test_one_operation_however_it_is_wrapped(self, text: str) -> None:
        """P04, P14, P17, and exactly one call (P02)."""
        model = says(text)
        curation = ModelCurator(model).curate(one(REFLECTION), MEMORY)
        assert curation.operations == (TAG, Add(draft=Draft(section="others", content="pin versions")))
        assert len(model.requests) == 1

    @pytest.mark.parametrize("text", ['{"operations": []}', "[]"])
    def test_no_change_is_an_answer(self, text: str) -> None:
        curation = ModelCurator(says(text)).curate(one(REFLECTION), MEMORY)
        assert (curation.operations, curation.by, curation.notes) == ((TAG,), "model", ())

    @pytest.mark.parametrize(
        "text",
        [
            '{"operations": [{"type": "ADD", "content": "whole"}, {"type": "ADD", "content": "in the mid',
            '[{"type": "ADD", "content": "whole"}, {"type": "ADD", "con',
            '{"operations": [{"type": "ADD", "content": "whole"},',
            '{"operations": [{"type": "ADD", "content": "whole"}',
            "{'operations': [{'type': 'ADD', 'content': 'whole'}, {'type': 'ADD', 'content': 'in the mid",
        ],
    )
    def test_finished_operations_of_a_reply_that_is_cut_twice_are_kept(self, text: str) -> None:
        model = says(said(text, Outcome.LENGTH), said(text, Outcome.LENGTH))
        curation = ModelCurator(model, max_tokens=50).curate(one(REFLECTION), MEMORY)
        assert curation.operations == (TAG, Add(draft=Draft(content="whole")))
        assert [request.max_tokens for request in model.requests] == [50, 100]
        assert curation.usage.calls == 2
        assert curation.notes[-1] == "The reply of fake was cut at max_tokens; what stood at the cut was left out."

    @pytest.mark.parametrize("echo", [form_in("curator"), CURATION_SCHEMA])
    def test_the_form_itself_is_no_reply(self, echo: Any) -> None:
        curation = ModelCurator(says(json.dumps(echo))).curate(one(REFLECTION), MEMORY)
        assert curation.by == "rules"
        assert curation.notes[0] == "The reply of fake repeats the form that it was asked to fill in."

    def test_an_example_among_real_operations_is_left_out(self) -> None:
        """The example of the prompt, and one proposal at its end."""
        operations = [*form_in("curator")["operations"], {"type": "ADD", "section": "a section", "content": "new"}]
        curation = curate(*operations)
        assert curation.operations == (TAG, Add(draft=Draft(content="new")))
        assert len(curation.skipped) == 4

    @pytest.mark.parametrize(
        "text",
        [
            '{"operations": {"type": "ADD", "section": "others", "content": "pin versions"}}',
            '{"type": "ADD", "section": "others", "content": "pin versions"}',
            '{"operations": "[{\\"type\\": \\"ADD\\", \\"content\\": \\"pin versions\\"}]"}',
            '{"type": "ADD", "content": "pin versions"}\n{"type": "TAG", "id": "sai-1", "tag": "neutral"}',
        ],
    )
    def test_one_operation_that_stands_in_no_list(self, text: str) -> None:
        curation = ModelCurator(says(text)).curate(one(REFLECTION), MEMORY)
        assert curation.operations == (TAG, Add(draft=Draft(section="others", content="pin versions")))
        assert curation.by == "model"

    def test_a_model_that_can_be_held_to_a_schema_is(self) -> None:
        filled = {
            "type": "UPDATE",
            "id": "err-7",
            "into": "",
            "section": "",
            "content": "z",
            "reason": "",
            "absorbed": [],
        }
        model = says(
            json.dumps({"reasoning": "r", "operations": [filled]}), capabilities=Capabilities(json_schema=True)
        )
        curation = ModelCurator(model).curate(one(REFLECTION), MEMORY)
        assert model.requests[0].json_schema == CURATION_SCHEMA
        assert curation.operations == (TAG, Update(id="err-00007", content="z"))
        assert set(filled) == set(CURATION_SCHEMA["properties"]["operations"]["items"]["required"])
        assert response_format(CURATION_SCHEMA)["json_schema"]["strict"] is True

    @pytest.mark.parametrize(
        "reply",
        [said("I would add a line."), said('{"operations": "none"}'), said("see [1]")]
        + [nothing_said(outcome) for outcome in (Outcome.EMPTY, Outcome.FILTERED, Outcome.TOOL_CALLS)],
    )
    def test_rules_take_the_place_of_a_reply_that_cannot_be_read(self, reply: Reply) -> None:
        curation = ModelCurator(says(reply)).curate(one(REFLECTION), MEMORY)
        rules = RuleCurator().curate(one(REFLECTION), MEMORY)
        assert (curation.operations, curation.by) == (rules.operations, "rules")
        assert curation.notes[-1] == "Rules curated in its place."
        assert len(curation.notes) == 2
        assert curation.usage.calls == 1

    def test_a_reflection_that_teaches_nothing_costs_no_call(self) -> None:
        model = says()
        curation = ModelCurator(model).curate(one(Reflection(correct=True, tags={"sai-00001": "helpful"})), MEMORY)
        assert curation.operations == (Tag(id="sai-00001", helpful=1),)
        assert model.requests == []

    @pytest.mark.parametrize("error", [ModelUnavailableError("down"), TypeError("a bug")])
    def test_a_failed_call_and_a_bug_rise(self, error: Exception) -> None:
        """L11: only what was said and cannot be read is left to the rules."""
        with pytest.raises(type(error)):
            ModelCurator(says(error)).curate(one(REFLECTION), MEMORY)


class TestBatch:
    OTHER = Reflected(
        attempt=Attempt(query=Query(text="Where is my parcel?"), answer="teal", feedback=Feedback(correct=True)),
        reflection=Reflection(correct=True, key_insight="Parcels go to teal.", tags={"sai-00001": "helpful"}),
    )
    IDLE = Reflected(
        attempt=Attempt(query=Query(text="Idle?"), answer="x", feedback=Feedback(correct=True)),
        reflection=Reflection(correct=True, tags={"calc-00012": "helpful"}),
    )

    def test_one_call_for_all(self) -> None:
        model = says('{"operations": []}')
        ModelCurator(model).curate((*one(REFLECTION), self.OTHER, self.IDLE), MEMORY)
        assert len(model.requests) == 1
        prompt = prompt_of(model)
        assert "2 attempts were judged." in prompt
        first, second = (
            "The question of attempt 1:\n<question>\nI paid",
            "The question of attempt 2:\n<question>\nWhere",
        )
        assert prompt.index(first) < prompt.index("What attempt 1 taught") < prompt.index(second)
        assert "Key insight: Parcels go to teal." in prompt
        assert "Idle?" not in prompt
        check_golden("prompt_curator_batch.txt", as_text(model.requests[0]))

    @pytest.mark.parametrize("curator", [RuleCurator(), ModelCurator(says('{"operations": []}'))])
    def test_all_tags_are_counted_and_two_attempts_that_disagree_are_two_votes(self, curator: Curator) -> None:
        batch = (*one(REFLECTION), self.OTHER, self.IDLE)
        tags = [operation for operation in curator.curate(batch, MEMORY).operations if isinstance(operation, Tag)]
        assert tags == [Tag(id="sai-00001", helpful=1, harmful=1), Tag(id="calc-00012", helpful=1)]

    def test_rules_add_the_insight_of_each(self) -> None:
        operations = RuleCurator().curate((*one(REFLECTION), self.OTHER), MEMORY).operations
        contents = [operation.draft.content for operation in operations if isinstance(operation, Add)]
        assert contents == ["Double charges go to amber.", "Parcels go to teal."]

    def test_a_verdict_of_the_model_counts_only_where_no_reflection_has_one(self) -> None:
        reply = json.dumps([{"type": "TAG", "id": id, "tag": "harmful"} for id in ("calc-00012", "err-00007")])
        curation = ModelCurator(says(reply)).curate((*one(REFLECTION), self.IDLE), MEMORY)
        assert curation.operations == (TAG, Tag(id="calc-00012", helpful=1), Tag(id="err-00007", harmful=1))

    def test_a_batch_that_teaches_nothing_costs_no_call(self) -> None:
        model = says()
        curation = ModelCurator(model).curate((self.IDLE, self.IDLE), MEMORY)
        assert curation.operations == (Tag(id="calc-00012", helpful=2),)
        assert curation.notes == ("The reflections teach nothing new.",)


def test_the_bullets_of_the_attempt_are_shown_first_and_no_more_than_allowed() -> None:
    memory = FakeMemory([bullet(f"a-{number}", helpful=number) for number in range(1, 6)])
    attempt = Attempt(query=ATTEMPT.query, answer="", feedback=Feedback(), bullets=(bullet("a-1"), bullet("gone-1")))
    model = says("[]")
    ModelCurator(model, max_bullets=3).curate(one(REFLECTION, attempt), memory)
    assert [id for id in ("a-1", "a-2", "a-3", "a-4", "a-5", "gone-1") if f"[{id}]" in prompt_of(model)] == [
        "a-1",
        "a-4",
        "a-5",
    ]
    assert prompt_of(model).index("[a-1]") < prompt_of(model).index("[a-5]") < prompt_of(model).index("[a-4]")
