"""Processes that are killed while they learn, and what is left of their memories."""
