"""What is told of runs: tables for terminals, values for programs, a page for browsers."""
