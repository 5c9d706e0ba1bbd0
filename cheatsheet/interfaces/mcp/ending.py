"""The end of the process, once its work is done.

A client that has closed standard input waits two seconds before it kills the server (so both the Python and the
TypeScript SDK). To take an interpreter apart that has loaded torch can last longer, and a call in a thread cannot be
stopped at all; so the process ends without either. Imports nothing that might print.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from typing import Final, NoReturn

# How long a thread that has done its work may take to end.
_LAST_MOMENTS_S: Final = 0.2


class Ending:
    """Ends the process when `leave` was called and all has been done that was registered for its end.

    What is registered first is called last: make it before anything is imported that registers something.
    """

    def __init__(self) -> None:
        self._code: int | None = None
        atexit.register(self._end)

    def leave(self, code: int) -> NoReturn:
        """End the process with this code; where a call still runs in a thread, without waiting for it."""
        self._code = code
        if _is_kept_by_threads():
            self._end()
        sys.exit(code)

    def _end(self) -> None:
        if self._code is None:
            return
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        os._exit(self._code)


def _is_kept_by_threads() -> bool:
    """Whether the interpreter would wait for a thread."""
    waited_for = [thread for thread in threading.enumerate() if not thread.daemon]
    others = [thread for thread in waited_for if thread is not threading.main_thread()]
    for thread in others:
        thread.join(_LAST_MOMENTS_S)
    return any(thread.is_alive() for thread in others)
