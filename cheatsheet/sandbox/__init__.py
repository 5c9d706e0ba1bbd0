"""Programs that a model wrote, run outside this process."""
