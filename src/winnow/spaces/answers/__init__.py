"""What a space is asked: count, marginals, samples, lists, membership, explanations; an estimate where counting costs
too much.

Imports the rest of the room.
"""
