"""Growing without duplicates: what two texts state, whether they say the same, and how they are merged."""
