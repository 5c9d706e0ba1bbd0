"""Tasks of our own: a routing stream for memory, and two puzzles whose answers are judged exactly."""
