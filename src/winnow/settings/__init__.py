"""What a manifest may say: one file for each stage's options, and `manifest`, which composes them.

Imports `spaces` for expressions. Never knows a stage: no selection, no descriptor, no device.
"""
