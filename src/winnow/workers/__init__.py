"""The one way to run code that may crash, hang, leak or eat memory: in a child process, with limits.

Imports the floor only. Never knows what it runs.
"""
