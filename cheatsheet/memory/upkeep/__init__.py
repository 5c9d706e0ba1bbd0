"""Keeping a memory sound and small: what is wrong with it, and what may be forgotten."""
