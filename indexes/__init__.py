"""The ground of Cheatsheet: vectors in, neighbours out.

Nothing here knows of bullets, prompts or settings. `Embedder` turns texts into unit rows,
`VectorIndex` finds the nearest of them; every implementation of either is held to the same
numbered promises by one suite in `tests/contracts`.
"""
