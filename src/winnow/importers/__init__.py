"""Others' files of spaces and evidence, read into Winnow's values: one file a form.

Imports `spaces`, `evidence` and the strict readers. Never knows an engine.
"""
