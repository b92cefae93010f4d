"""What a person reads: the page of an engine, and verdicts in the forms that people and CI systems read.

Imports every room below for its values. Never decides or measures.
"""
