"""The one way to run code that may crash, hang or eat memory: in a process of its own, which may die without harm.

Imports: errors, machine, files. A device's worker imports this package with the standard library alone, so nothing is
imported here.
Never: what it runs, and for whom.
"""
