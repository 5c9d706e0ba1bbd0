"""The logger of this package, whose records hold no secrets, in tracebacks neither."""

from __future__ import annotations

import logging
from typing import Final

from cheatsheet.safety.secrets import mask_secrets

NAME: Final = "cheatsheet"


class WithoutSecrets(logging.Filter):
    """Masks what is logged before any handler sees it."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = mask_secrets(record.getMessage()), None
        if record.exc_info and record.exc_text is None:
            # A formatter writes what it finds here instead of formatting the error again.
            record.exc_text = mask_secrets(logging.Formatter().formatException(record.exc_info))
        return True


def masking_logger() -> logging.Logger:
    """The logger, with the filter; asking for it twice adds it once."""
    logger = logging.getLogger(NAME)
    if not any(isinstance(each, WithoutSecrets) for each in logger.filters):
        logger.addFilter(WithoutSecrets())
    return logger
