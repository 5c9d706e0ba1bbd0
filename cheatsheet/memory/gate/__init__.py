"""The collapse guard: what may change a memory, and a rewritten cheatsheet as small operations."""
