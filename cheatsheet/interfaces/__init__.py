"""The doors: the Python API's `open`, the command line, and the wiring that they share."""
