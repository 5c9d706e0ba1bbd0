"""Who lives the cells of a grid: this process, several processes of this machine, or a Ray cluster.

`base` is the contract; `sequential`, `processes` (with `worker`, what runs in them) and `ray` keep it.
"""
