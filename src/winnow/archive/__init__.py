"""A packed tree as files: archive, sidecars, marker and digests, read and verified.

Imports the floor, `targets` and `compilers`' code objects. Never knows who wrote a tree;
needs neither pydantic nor YAML.
"""
