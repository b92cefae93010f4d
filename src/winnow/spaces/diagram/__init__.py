"""From rules to one structure: each rule becomes an automaton, all of them together a decision diagram.

Imports `model` and `rules`. Never knows what is asked of the diagram but counts.
"""
