"""What is measured beside ours: other ways to find what is alike, each a step at a time, on the same bullets."""
