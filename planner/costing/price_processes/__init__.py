"""How prices move: one process for each accelerator family and way of paying. PURE.

`find_process` gives the process of an accelerator under a purchase option, `draw_paths` joint
paths of several of them. The parameters (`parameters.csv`) are fitted by
`python -m tools.price_processes` on dated histories.
"""
