"""How complex a question is: a number without a unit, from cheap marks in its text, the same on every machine.

The number is a sum over features. Each is counted, weighed, and held under a limit, so that no single one decides:

    length       words / 15, at most 4       two signs of a script without spaces count as one word
    sentences    0.2 for each but the first, at most 1
    numbers      0.1 each, at most 1
    formulas     0.15 for each operator, relation and LaTeX command, at most 2
    conditions   0.3 for each word such as "exactly", "at least", "unless", "distinct", at most 2
    demands      1.5 for each word such as "prove", "compare", "design", at most 3
    parts        0.8 for each further question or lettered part, at most 2.4
    code         1.5 where there is any
    choices      log2 of the number of allowed answers, at most 4

"What is 2+2?" has 0.6, an arithmetic problem of three sentences about 3, a competition problem (AIME) about 6. The
weights are judgement, chosen so that these fall below 2, from 2 to 5, and above 5; the words are English, everything
else holds in any language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cheatsheet.memory.experience import Query

# Han, Japanese syllables and Thai, which are written without spaces.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"(?:[.!?](?=\s|$)|[。！？])")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_FORMULA = re.compile(r"\\[A-Za-z]+|(?<![<>=+*/^-])(?:[=<>≤≥≠≈±×÷√∑∫^*+/]|(?<=[\d)\s])[-−](?=[\s\d(]))")
_QUESTION = re.compile(r"(?<=\S)[?？]")
_PART = re.compile(r"(?:^|\s)\(?([a-h]|[1-9]|i{1,3}|iv|v)[.)]\s", re.MULTILINE)
_OPTION = re.compile(r"(?:^|\s)\(?([A-J])[.):]\s", re.MULTILINE)
# Every repetition has a bound, so that no text takes long.
_CODE = re.compile(
    r"```|^[ \t]{0,40}(?:def|class|import|from|fn|func|public|#include)\b[^\n]{0,200}?[({<:;]|"
    r"^[ \t]{0,40}(?:from [\w.]{1,80} )?import \w|\bSELECT\b[^;]{1,80}?\bFROM\b",
    re.MULTILINE,
)
_CONDITION = re.compile(
    r"\b(?:each|every|exactly|at least|at most|no (?:more|fewer|less) than|only|must|cannot|without|except|unless|if|"
    r"such that|given that|provided|suppose|assum\w+|let|otherwise|distinct|different|respectively|relatively prime|"
    r"positive|negative|integers?|maximum|minimum|largest|smallest|greatest|least|shortest|longest)\b",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"\b(?:prove|derive|show that|explain (?:why|how)|compare|design|implement|optimi[sz]e|analy[sz]e|debug|refactor|"
    r"step by step|write an? (?:program|function|essay|plan|report|proof))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Feature:
    """One mark of complexity: what is counted, what one of it weighs, and how much they can weigh together."""

    count: Callable[[Query], float]
    weight: float
    most: float


def complexity(query: Query) -> float:
    """The complexity of a question, 0 or more; see the module for its formula."""
    return sum(weights(query).values())


def weights(query: Query) -> Mapping[str, float]:
    """What each feature adds to the complexity."""
    return {name: min(feature.most, feature.weight * feature.count(query)) for name, feature in FEATURES.items()}


def _words(query: Query) -> float:
    unspaced = len(_UNSPACED.findall(query.text))
    return len(_UNSPACED.sub(" ", query.text).split()) + unspaced / 2


def _further_sentences(query: Query) -> float:
    return max(0, len(_SENTENCE_END.findall(query.text)) - 1)


def _further_parts(query: Query) -> float:
    return max(0, len(_QUESTION.findall(query.text)) - 1, len(set(_PART.findall(query.text))) - 1)


def _choices(query: Query) -> float:
    return math.log2(max(1, len(query.choices) or len(set(_OPTION.findall(query.text)))))


def _matches(pattern: re.Pattern[str]) -> Callable[[Query], float]:
    return lambda query: len(pattern.findall(query.text))


FEATURES: Mapping[str, Feature] = {
    "length": Feature(_words, 1 / 15, 4),
    "sentences": Feature(_further_sentences, 0.2, 1),
    "numbers": Feature(_matches(_NUMBER), 0.1, 1),
    "formulas": Feature(_matches(_FORMULA), 0.15, 2),
    "conditions": Feature(_matches(_CONDITION), 0.3, 2),
    "demands": Feature(_matches(_DEMAND), 1.5, 3),
    "parts": Feature(_further_parts, 0.8, 2.4),
    "code": Feature(_matches(_CODE), 1.5, 1.5),
    "choices": Feature(_choices, 1, 4),
}
