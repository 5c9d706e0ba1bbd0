"""What is logged holds no secrets."""

from __future__ import annotations

import io
import logging

from cheatsheet.events import Events
from cheatsheet.safety.logs import WithoutSecrets, masking_logger

KEY = "sk-proj-Abcd1234Efgh5678"


def test_messages_and_tracebacks_are_masked() -> None:
    """Y06: the error of a provider that echoes the key, logged by a part that never heard of it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = masking_logger()
    logger.addHandler(handler)
    try:
        error = ValueError(f"Incorrect API key provided: {KEY}")
        logging.getLogger("cheatsheet").error("It failed with %s.", error, exc_info=error)
    finally:
        logger.removeHandler(handler)
    logged = stream.getvalue()
    assert "Abcd1234" not in logged
    assert logged.startswith("It failed with Incorrect API key provided: [redacted].\nValueError")
    assert logged.count("[redacted]") == 2


def test_the_filter_is_there_once_whoever_asks() -> None:
    Events([])
    assert masking_logger() is masking_logger()
    assert sum(isinstance(each, WithoutSecrets) for each in masking_logger().filters) == 1
