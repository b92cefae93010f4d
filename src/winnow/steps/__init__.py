"""One function a step of the pipeline: an engine directory in, a typed result out.

The command line, the Python API and the pytest plugin call these. Imports every room below. Never prints.
"""
