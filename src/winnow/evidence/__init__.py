"""What measurements prove, as values: the ledger of pairs, and times by graph, kernel and round.

Imports `targets` and NumPy. Never knows how anything was measured or stored.
"""
