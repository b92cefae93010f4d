"""What users embed: load a packed tree, match a problem, rank kernels, launch them, judge the result.

Imports `archive`, `families`, `devices`. Never knows a selection, a registry or a manifest.
"""
