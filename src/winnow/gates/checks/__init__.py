"""The built-in gates: one file each, with `GATE`; a file that is here is a gate."""
