"""Memory files that earlier schemas wrote, one for each, and what is in them.

`schema-N.db.gz` was written by the version of Cheatsheet whose schema N was, and `schema-N.json` is what that version
read from it. `python -m tests.memory.files.keep` writes the two for the schema of today; files that are kept are never
written again, for only so do they stay what people have.
"""
