"""Tasks: streams of questions with known answers, and where they come from.

A source is a file (`.jsonl`, `.csv`, `.tsv`, each also with `.gz`, or `.parquet`), a data set of the Hugging Face Hub
(`hf:NAME`), or Python code that gives the questions (`package.module:name`). `load` reads any of them; `fields` says
which column is which, `split` cuts one source into parts for learning, choosing and measuring.
"""

from cheatsheet.evaluation.task.fields import read_fields
from cheatsheet.evaluation.task.load import load_task
from cheatsheet.evaluation.task.sample import Sample, Task, shuffled
from cheatsheet.evaluation.task.split import Shares, Split

__all__ = ["Sample", "Shares", "Split", "Task", "load_task", "read_fields", "shuffled"]
