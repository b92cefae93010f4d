"""Others' files of spaces and evidence, read into Winnow's values: one file a form.

Imports `spaces`. Never knows an engine. What evidence is, its importer in `sweep` knows.
"""
