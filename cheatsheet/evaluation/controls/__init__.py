"""Controls: arms of an evaluation that any claim about memory must beat."""
