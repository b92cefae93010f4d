"""Kernels in Triton. They are read as text, so that compiling and interpreting see the same source."""
