"""Evidence → the kernels worth keeping, with a reason for each: arrays in, a decision out.

Imports `evidence` and `settings`. Never knows SQL, files or devices.
"""
