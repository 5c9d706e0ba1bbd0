"""The memory in one SQLite file."""
