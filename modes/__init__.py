"""Four memories behind one interface, none knowing another: the modes of Cheatsheet."""
