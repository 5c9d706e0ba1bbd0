"""A memory that learns from a training file, or from turns that were lived elsewhere."""
