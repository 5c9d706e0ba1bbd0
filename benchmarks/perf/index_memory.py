"""What an index takes of the memory of a process that does nothing else.

    python -m benchmarks.perf.index_memory KIND ROWS DIM SHAPE < VECTORS

`benchmarks.perf.index` starts it. VECTORS are those of real texts, float32 one after the other, of which the rows are
mixed as they are added.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.perf.index_sides import fill
from benchmarks.perf.mixture import Mixture, Shape

_STATUS = Path("/proc/self/status")
_FIELDS = {"VmRSS": "resident_mb", "VmHWM": "peak_mb"}


def main(arguments: Sequence[str]) -> None:
    """Fill an index, search once, and print megabytes as JSON; nothing where the system does not tell."""
    kind, rows, dim, shape = arguments
    real = np.frombuffer(sys.stdin.buffer.read(), dtype=np.float32).reshape(-1, int(dim))
    mixture = Mixture(real, cast(Shape, shape))
    index, _ = fill(kind, mixture, int(rows))
    index.search(mixture.real[0], 10)
    print(json.dumps(resident()))


def resident() -> dict[str, float]:
    """Megabytes (10^6) of this process that are in memory, now and at most; empty where the system does not tell."""
    if not _STATUS.exists():
        return {}
    lines = (line.split() for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines())
    return {_FIELDS[words[0][:-1]]: int(words[1]) * 1.024e-3 for words in lines if words and words[0][:-1] in _FIELDS}


if __name__ == "__main__":
    main(sys.argv[1:])
