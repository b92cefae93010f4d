"""Memory, modules, launches and clocks of the devices that run kernels: one file a runtime.

Imports `compilers`' code objects, `targets` and `workers`. Never knows a catalog or a family.
"""
