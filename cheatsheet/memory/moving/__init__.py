"""Moving a whole memory from one place to another: from a file to a PostgreSQL server, back, and among their like."""
