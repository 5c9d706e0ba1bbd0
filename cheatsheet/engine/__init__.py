"""One turn from recall to journal: the engine, and what it returns."""
