"""Evidence → the kernels worth keeping, with a reason for each: arrays in, a decision out.

Imports `evidence`, `settings` and `targets`. Never knows SQL, files or devices.
"""
