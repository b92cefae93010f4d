"""Graphs: the problems that kernels are measured on."""
