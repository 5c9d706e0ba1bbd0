"""What a replay says when it is asked for something that is not on record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cheatsheet.errors import SetupError
from cheatsheet.evaluation.runs.recording.contents import Contents, TurnKey, requests_of
from cheatsheet.llm.call_file import CallFile
from cheatsheet.llm.call_json import differences, nearest, request_json
from cheatsheet.llm.model import Request

_SHOWN_CHARS = 120
_GO_ON = "A run that was stopped can be recorded to its end: resume it as it was begun."


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Makes the errors of one recording; each stops the run, since a guess would pass for a repetition.

    Attributes:
        path: of the recording.
        hint: what is otherwise in this run than in the recorded one, as sentences; empty where nothing is known.
    """

    path: Path
    hint: str = ""

    def turn(self, key: TurnKey, contents: Contents) -> SetupError:
        """A question that the recorded run did not ask, or not so often."""
        asked = len({begun.turn for begun in contents.begun})
        known = "a further try at" if key.turn in {begun.turn for begun in contents.begun} else "anything about"
        return self._error(f"does not hold {known} {_named(key)}; {asked} questions are on record there. {_GO_ON}")

    def request(self, key: TurnKey, model: str, request: Request) -> SetupError:
        """A request that was not made, or not so often; the file is read again to find the nearest one."""
        calls = [call for call in requests_of(CallFile(self.path).read(), key.turn) if call["model"] == model]
        if not calls:
            return self._error(f"holds no call of {model} for {_named(key)}. {_GO_ON}")
        wanted = request_json(request)
        found = nearest((call["request"] for call in calls), wanted)
        told = differences(found, wanted) if found is not None else ()
        what = f"The nearest one on record is another one: {'; '.join(told)}." if told else _once_more(len(calls))
        return self._error(f"holds no answer of {model} to a request of {_named(key)}. {what}")

    def count(self, key: TurnKey, text: str) -> SetupError:
        """A text whose tokens were not counted."""
        return self._error(f"holds no token count for a text of {_named(key)}, {_ending(text)}: the prompt differs.")

    def vectors(self, key: TurnKey, texts: Sequence[str]) -> SetupError:
        """Texts that were not embedded."""
        return self._error(f"holds no vector for {len(texts)} of the texts of {_named(key)}, one {_ending(texts[0])}.")

    def fact(self, name: str, known: Iterable[str]) -> SetupError:
        """Something that no model said of itself."""
        return self._error(f"does not hold the {name}. On record are: {', '.join(sorted(known)) or 'none'}.")

    def _error(self, what: str) -> SetupError:
        return SetupError(f"{self.path} {what}{f' {self.hint}' if self.hint else ''}")


def _named(key: TurnKey) -> str:
    arm, _, question = key.turn.partition(":")
    return f"question {question!r} of arm {arm!r}" if question else "what stands outside of all questions"


def _ending(text: str) -> str:
    return f"ending {text[-_SHOWN_CHARS:]!r}"


def _once_more(calls: int) -> str:
    return f"It was made among the {calls} calls on record there, and is made once more now."
