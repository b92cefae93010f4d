"""What a space is: axes with their choices, rules that read them, predicates of foreign registries.

Imports `rules`. Never knows how a space is compiled.
"""
