"""Measuring packed kernels on graphs, in rounds, into a database; and reading it back as evidence.

Imports `runtime`, `devices`, `evidence`, `descriptors`, `families`, `graphs`, `settings`, `targets`, and `importers`,
to which it offers its database. Alone speaks SQL. Never knows what is decided on its measurements.
"""
