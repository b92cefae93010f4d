"""What a person reads: the page of an engine, and verdicts in the forms that people and CI systems read.

Imports values of the rooms below. Never decides or measures.
"""
