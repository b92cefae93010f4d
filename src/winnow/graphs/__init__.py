"""Graphs, the problems that kernels are measured on: hipDNN's JSON, node types, corpora and where they come from.

Imports nothing above the floor. Never knows a kernel.
"""
