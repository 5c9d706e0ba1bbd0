"""Finding by words: BM25 over PostgreSQL's text search vectors.

The ranks that PostgreSQL itself offers (`ts_rank`, `ts_rank_cd`) do not weigh a rare word more than one that stands
everywhere, so that an error code would count no more than "the". So PostgreSQL finds what shares a word, by its GIN
index, and the score of BM25 is summed up over the vectors, with k1 = 1.2 and b = 0.75 as in SQLite's FTS5.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from cheatsheet.memory.likeness.lexicon import NO_SPACES
from cheatsheet.memory.postgres.server import Server

Table = Literal["bullets", "experiences"]

K1, B = 1.2, 0.75

MOST_ROWS = 10_000
"""Rows that are ranked. Words that would bring more rank what rarer words find and find nothing themselves: reading all
that has one of them would take longer the larger the memory is."""

MOST_ASKED = 256
"""Different words of a text that are looked for; the first ones count."""

# PostgreSQL's bounds: a lexeme has at most 2,046 bytes, its positions at most 255, a whole vector 1 MiB.
_LONGEST_WORD_BYTES = 1_000  # two with a hyphen are one lexeme as well
_MOST_POSITIONS = 255
_MOST_BYTES = 900_000
_WORD = re.compile(r"[^\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_UNSPACED = re.compile(f"[{NO_SPACES}]+")
_PIECE = 3  # signs of a word in a script without spaces, as in FTS5's tokenizer `trigram`


def words_of(text: str) -> list[str]:
    """The words of a text, folded and without accents.

    `ORA-00942` is `ora`, `00942` and, so that it weighs as one thing, `ora-00942`. What is written without spaces is
    all pieces of three signs, beside the words around it.
    """
    folded = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold())))
    words: list[str] = []
    for chunk in _UNSPACED.sub(" ", folded).split():
        parts = [_cut(part) for part in _WORD.findall(chunk)]
        words += parts
        words += [f"{one}-{next}" for one, next in pairwise(parts)]
    for run in _UNSPACED.findall(folded):
        words += [run[start : start + _PIECE] for start in range(max(1, len(run) - _PIECE + 1))]
    return words


def _cut(word: str) -> str:
    """As much of a word as PostgreSQL takes."""
    return word.encode()[:_LONGEST_WORD_BYTES].decode(errors="ignore")


@dataclass(frozen=True, slots=True)
class Indexed:
    """A text as it is indexed.

    Attributes:
        vector: a `tsvector` as PostgreSQL reads it, with as many positions for a word as it occurs times.
        length: how many words the text has.
    """

    vector: str
    length: int


def indexed(text: str) -> Indexed:
    """The words of a text with their counts; of one with more words than a vector can hold, the first ones."""
    words = words_of(text)
    room = _MOST_BYTES
    entries = []
    for word, times in Counter(words).items():
        times = min(times, _MOST_POSITIONS)
        room -= len(word.encode()) + 2 * times + 8
        if room < 0:
            break
        entries.append(f"'{word}':{','.join(map(str, range(1, times + 1)))}")
    return Indexed(" ".join(entries), len(words))


_FREQUENCIES = """
SELECT asked.word, (
    SELECT count(*) FROM (
        SELECT 1 FROM {table} WHERE namespace_id = %(ns)s AND status = 'active'
        AND words @@ quote_literal(asked.word)::tsquery LIMIT %(most)s
    ) AS found
) AS rows FROM unnest(%(words)s::text[]) AS asked (word)
"""

_BEST = """
SELECT number FROM (
    SELECT number, sum(
        asked.weight * cardinality(positions) * %(k1)s::float8
        / (cardinality(positions) + %(rise)s::float8 + %(slope)s::float8 * length)
    ) AS score
    FROM {table} CROSS JOIN LATERAL unnest(words) AS stored (lexeme, positions, weights)
    JOIN unnest(%(words)s::text[], %(weights)s::float8[]) AS asked (lexeme, weight) USING (lexeme)
    WHERE namespace_id = %(ns)s AND status = 'active' AND words @@ %(any)s::tsquery
    GROUP BY number
) AS scored ORDER BY score DESC, number LIMIT %(limit)s
"""


def matching(server: Server, table: Table, namespace: str, text: str, limit: int) -> list[int]:
    """Numbers of the active rows that share words with a text, the best first, ties by the lowest number."""
    words = list(dict.fromkeys(words_of(text)))[:MOST_ASKED]
    singular = table.removesuffix("s")
    sums = f"SELECT id, active_{table} AS rows, {singular}_words AS words FROM namespaces WHERE name = %s"
    found = server.rows(sums, (namespace,))
    if not words or limit <= 0 or not found or not found[0]["rows"]:
        return []
    space, total = found[0]["id"], found[0]["rows"]
    asked = {"ns": space, "words": words, "most": MOST_ROWS}
    rows = server.rows(_FREQUENCIES.format(table=table), asked)
    counts = {row["word"]: row["rows"] for row in rows if row["rows"]}
    if not counts:
        return []
    mean = max(1.0, found[0]["words"] / total)
    values = {
        "ns": space,
        "words": list(counts),
        "weights": [_weight(count, total) for count in counts.values()],
        "any": " | ".join(f"'{word}'" for word in _finding(counts)),
        "k1": K1 + 1,
        "rise": K1 * (1 - B),
        "slope": K1 * B / mean,
        "limit": limit,
    }
    return [row["number"] for row in server.rows(_BEST.format(table=table), values)]


def _finding(counts: Mapping[str, int]) -> list[str]:
    """The words that bring rows: the rarest, as long as they bring no more than are ranked, and one at least."""
    found: list[str] = []
    total = 0
    for word in sorted(counts, key=lambda word: counts[word]):
        total += counts[word]
        if not found or total <= MOST_ROWS:
            found.append(word)
    return found


def _weight(rows: int, total: int) -> float:
    """The inverse document frequency, never negative."""
    return math.log(1 + (total - rows + 0.5) / (rows + 0.5)) if rows <= total else 0.0
