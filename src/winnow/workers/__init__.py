"""The one way to run code that may crash, hang or eat memory: in a process of its own, which may die without harm.

Imports nothing above the floor, and in this file nothing at all: a device's worker imports this package with the
standard library alone. Never knows what it runs, or for whom.
"""
