"""Errors of the ground, and the root of every error that this wheel raises.

The whole tree is drawn at the top of `cheatsheet/errors.py`.
"""


class CheatsheetError(Exception):
    """Root of all named errors of `cheatsheet`, `modes` and `indexes`."""


class VectorError(CheatsheetError, ValueError):
    """Vectors that cannot be used: wrong shape, wrong dimension, not finite."""


class DimensionMismatchError(VectorError):
    """Rows of one dimension were given where another is needed; the message states both."""

    def __init__(self, *, expected: int, got: int, what: str = "rows") -> None:
        self.expected = expected
        self.got = got
        super().__init__(
            f"The {what} came with dimension {got}, but dimension {expected} is needed. "
            f"Vectors of different embedding models cannot be mixed: embed again with one model."
        )


class NonFiniteVectorError(VectorError):
    """A row holds NaN or infinity."""


class EmbedderUnavailableError(CheatsheetError):
    """An embedding model cannot be loaded or reached; the message says what to install or to set."""


class IndexFileError(CheatsheetError):
    """A saved index is missing, damaged, or made by another model, or cannot be written. It can be rebuilt."""


def first_line(error: Exception) -> str:
    """What an error says, or its name where it says nothing; without its further lines and its full stop."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
