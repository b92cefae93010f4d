"""Answers about a space: count, marginals, samples, lists, membership, explanations; an estimate where an exact count
costs too much.

Imports the rest of the room. Never knows where a space comes from or what its points are used for.
"""
