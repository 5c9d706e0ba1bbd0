"""Finding what is near in one namespace of a store."""
