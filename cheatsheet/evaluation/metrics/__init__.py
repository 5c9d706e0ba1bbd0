"""What a run came to, in numbers."""

from __future__ import annotations

from cheatsheet.evaluation.metrics.intervals import CONFIDENCE, bootstrap, wilson
from cheatsheet.evaluation.metrics.summary import ArmSummary, summarise, summarise_rows

__all__ = ["CONFIDENCE", "ArmSummary", "bootstrap", "summarise", "summarise_rows", "wilson"]
