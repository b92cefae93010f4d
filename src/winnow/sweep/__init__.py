"""Measuring packed kernels on graphs, in rounds, into a database; and reading it back as evidence.

Imports `runtime`, `devices` and `evidence`. Alone speaks SQL. Never knows what is decided on its measurements.
"""
