"""Measurements: how much the memory helps, and what it costs. Not part of the wheel."""
