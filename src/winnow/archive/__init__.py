"""A packed tree as files: archive, sidecars, marker and digests, read and verified.

Imports `targets`, and `compilers` for code objects and for what an object says of itself. Never knows who wrote a
tree. Needs neither pydantic, YAML nor an ELF reader to be imported.
"""
