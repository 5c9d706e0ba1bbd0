"""How long the engine's own work takes."""
