"""The language of rules: safe expressions, their arithmetic, bounds and outcomes, point by point or over arrays.

Imports nothing of the room. Never knows axes, spaces or diagrams.
"""
