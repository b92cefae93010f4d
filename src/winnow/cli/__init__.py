"""The command line: parses options, calls one step, prints its result. One file a command.

Imports `steps`, and every room below for the values that it prints. Never decides: another caller of the same step
gets the same answer.
"""
