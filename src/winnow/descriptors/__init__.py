"""hipDNN's descriptor documents: read, generated, given ids, compared; and the native hooks that they name.

Imports `settings`, `targets`, and `selection` for the kernels that it writes down. Never knows a registry, an object
or a device.
"""
