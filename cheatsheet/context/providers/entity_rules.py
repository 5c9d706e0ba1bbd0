"""Finding names in a text by rules: people and products, identifiers, handles, tags and quoted names.

The rules know no language model and no word list of any language beside the few words below. They are made to miss
rather than to invent: what they find is counted, and shown only where it is met again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

EntityKind = Literal["name", "identifier", "handle", "tag", "quoted"]

_READ_CHARS: Final = 200_000
_NAME_CHARS: Final = 60
_NAME_WORDS: Final = 5

_HANDLE: Final = re.compile(r"(?<![\w.@/\]])@([\w](?:[\w.-]{0,38}\w)?)")
_TAG: Final = re.compile(r"(?<![\w#&/])#([^\W\d_][\w-]{1,38})")
_QUOTED: Final = re.compile(
    '["“„«]([^"“”„«»\n]{2,60})["”“»]|「([^「」\n]{2,30})」|『([^『』\n]{2,30})』|《([^《》\n]{2,30})》'
)
# Every repetition has an end, so that no text takes long; a longer run of letters is no name.
_IDENTIFIER: Final = re.compile(
    r"""
    (?<![\w@\#/.-])(?:
        [A-Z][A-Z0-9]{1,9}-\d{1,7}                                # a ticket: ABC-123
      | [^\W\d][\w-]{0,40}/(?:[\w-]{1,40}/){0,8}[\w-]{0,40}[._][\w-]{1,20}    # a file in a folder: src/app.py
      | [^\W\d][\w-]{0,40}/(?:[\w-]{1,40}/){1,8}[\w-]{1,40}      # folders: tests/context/providers
      | [^\W\d]\w{1,40}(?:\.[^\W\d]\w{0,40}){1,8}(?:\(\))?      # a dotted name or a file: os.path, setup.py
      | [^\W\d]\w{0,40}_\w{1,40}(?:\(\))?                        # snake_case
      | [a-z]{1,40}\d{0,4}(?:[A-Z][a-z0-9]{1,40}){1,8}(?:\(\))?    # camelCase
      | (?:[A-Z][a-z0-9]{1,40}){2,8}                             # CamelCase
    )(?![\w/-])
    """,
    re.VERBOSE,
)
# A Chinese, Japanese or Korean name is told by the title behind it.
_TITLED: Final = re.compile(
    r"([\u4e00-\u9fff々]{1,4}|[\u30a0-\u30ff]{2,10})(?=さん|さま|様|氏|くん|ちゃん|先生|女士|老师|經理|经理)|([\uac00-\ud7a3]{2,4})(?=님|씨)"
)
_WORD: Final = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
_SENTENCE_END: Final = frozenset('.!?:;…。！？\n•>*-|("“„«')
# Between the words of one name stands a space; a particle may stand there too, and an article behind a particle.
_PARTICLES: Final = frozenset("de da del della di do dos du van von zu of bin ibn al".split())
_ARTICLES: Final = frozenset("der den dem la las los le".split())
# Words that start sentences and clauses with a capital and name nothing.
_COMMON: Final = frozenset(
    """
    a an and are as at but by can could did do does for from had has have he her his how i i'm i've if in is it
    it's its let me my no not now of on once or our please she should so that the their then there these they this
    those to was we were what when where which who why will with would yes you your today tomorrow yesterday asked
    answered outcome note monday tuesday wednesday thursday friday saturday sunday january february march april
    may june july august september october november december english german french der die das ein eine und oder
    aber ich du er sie es wir ihr ist sind war hat haben nicht ja nein bitte wenn wie le la les un une des et ou
    mais je tu il elle nous vous ils est sont oui non si que qui el los las una y o pero yo tú él ella nosotros
    son sí cuando como lo gli e ma io lui lei noi os um uma ele ela nós são sim não вчера сегодня завтра я ты он
    она мы вы они и но или не да нет это как что где когда в на с по add answer ask book build buy call cancel
    change check compare correct create delete describe don't draft edit email explain find fix follow get give go
    help install keep list look make meet met move open order pay plan put read remind remove rename reply review
    run save say schedule see send set show start stop summarise summarize talk tell test thank thanks translate
    try turn update use wait watch work write hello hi dear sorry okay ok another any every each some all both
    also after again before because during here maybe more most new next only other over since still such than
    under until very while about above without within between through frag sag zeig schreib mach gib heute morgen
    gestern montag dienstag mittwoch donnerstag freitag samstag sonntag bonjour merci hola gracias
    """.split()
)
# Above this share of capitalised words within sentences, all nouns of a text are capitalised, as in German.
_NOUNS_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name that stands in a text.

    Attributes:
        name: as it is written there.
        key: by which two spellings are the same name.
    """

    name: str
    key: str
    kind: EntityKind


def find_names(text: str) -> tuple[Mention, ...]:
    """Every name in a text once, in the order met. Of very long texts the first 200,000 characters are read."""
    text = unicodedata.normalize("NFC", text[:_READ_CHARS])
    found: dict[str, Mention] = {}
    for kind, name in (*_marked(text), *((("name", name)) for name in _capitalised(text))):
        key = name_key(name)
        if key and len(name) <= _NAME_CHARS and key not in _COMMON:
            found.setdefault(key, Mention(name=name, key=key, kind=kind))
    return tuple(found.values())


def name_key(name: str) -> str:
    """The name without case, punctuation and marks of its width; `@` and `#` stay, as they make another name."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(tokens(folded))


def tokens(folded: str) -> list[str]:
    """The words of a text without case; a handle or a tag keeps its sign."""
    return re.findall(r"[@#]?\w+", folded)


def _marked(text: str) -> Iterator[tuple[EntityKind, str]]:
    """Names that a sign, a shape, quotes or a title mark as such."""
    for match in _HANDLE.finditer(text):
        yield "handle", f"@{match[1]}"
    for match in _TAG.finditer(text):
        yield "tag", f"#{match[1]}"
    for match in _IDENTIFIER.finditer(text):
        yield "identifier", match[0]
    for match in _QUOTED.finditer(text):
        name = next(group for group in match.groups() if group).strip()
        if 0 < len(name.split()) <= _NAME_WORDS and name[0].isalnum():
            yield "quoted", name
    for match in _TITLED.finditer(text):
        yield "name", match[1] or match[2]


def _capitalised(text: str) -> list[str]:
    """Runs of capitalised words, as names are written in scripts that have capitals."""
    words = list(_WORD.finditer(text))
    starts = [_starts_sentence(text, word.start()) for word in words]
    within = [word[0] for word, start in zip(words, starts, strict=True) if not start]
    capitals = [word for word in within if _is_name_word(word)]
    nouns = len(within) >= 20 and len(capitals) > _NOUNS_SHARE * len(within)
    known = set(capitals)
    return [
        " ".join(run)
        for run, at_start in _runs(text, words, starts)
        if len(run) > 1 or (not nouns and (not at_start or run[0] in known))
    ]


def _runs(text: str, words: list[re.Match[str]], starts: list[bool]) -> Iterator[tuple[list[str], bool]]:
    """Capitalised words that stand next to each other, and whether the first of them starts a sentence."""
    run: list[str] = []
    at_start = False
    end = 0
    for word, start in zip(words, starts, strict=True):
        joined = bool(run) and text[end : word.start()] == " "
        if joined and (word[0] in _PARTICLES or (word[0] in _ARTICLES and run[-1] in _PARTICLES)):
            run.append(word[0])
        elif _is_name_word(word[0]):
            if not joined or len(run) == _NAME_WORDS:
                yield from _trimmed(run, at_start)
                run, at_start = [], start
            run.append(word[0])
        else:
            yield from _trimmed(run, at_start)
            run = []
        end = word.end()
    yield from _trimmed(run, at_start)


def _trimmed(run: list[str], at_start: bool) -> Iterable[tuple[list[str], bool]]:
    """The run without particles and articles at its end."""
    while run and not run[-1][0].isupper():
        run = run[:-1]
    return [(run, at_start)] if run else []


def _is_name_word(word: str) -> bool:
    """Whether a word starts with a capital and is none of the common ones; `I'll` and single letters are no names."""
    return len(word) > 1 and word[0].isupper() and word.casefold().partition("’")[0].partition("'")[0] not in _COMMON


def _starts_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 4) : at].rstrip(" \t")
    return not before or before[-1] in _SENTENCE_END
