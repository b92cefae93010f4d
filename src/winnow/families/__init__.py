"""Kernel families: what Winnow can tune without anything else installed, and the contract of every other one."""
