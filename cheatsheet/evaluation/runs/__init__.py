"""Runs: arms asked every question of a task, in one process or many, stopped and resumed without loss."""
