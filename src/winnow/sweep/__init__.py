"""Sweep: every applicable kernel on every graph, checked first, then timed in interleaved rounds."""
