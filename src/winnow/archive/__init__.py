"""A packed tree as files: archive, sidecars, marker and digests, read and verified.

Imports the floor, `targets` and `compilers`' code objects; a compiler only to read back what an object says of itself.
Never knows who wrote a tree. Needs neither pydantic, YAML nor an ELF reader to be imported.
"""
