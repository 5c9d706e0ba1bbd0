"""The published runs of Dynamic Cheatsheet: read, scored by the paper's rules and by ours, laid beside its Table 1."""
