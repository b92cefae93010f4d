"""Reduce: from measurements to the few kernels worth keeping, with the reason for each that stays or goes."""
