"""One tolerant reading of what models write, for all roles.

Nothing here raises on any text, and the work grows with the length of the text, not with its square.
"""

from cheatsheet.roles.replies.answers import read_answer
from cheatsheet.roles.replies.echo import Echo
from cheatsheet.roles.replies.ids import IdMatcher, read_used_ids
from cheatsheet.roles.replies.reading import How, Json, Reading, well_formed
from cheatsheet.roles.replies.structured import read_json, without_unfinished
from cheatsheet.roles.replies.thinking import strip_thinking

__all__ = [
    "Echo",
    "How",
    "IdMatcher",
    "Json",
    "Reading",
    "read_answer",
    "read_json",
    "read_used_ids",
    "strip_thinking",
    "well_formed",
    "without_unfinished",
]
