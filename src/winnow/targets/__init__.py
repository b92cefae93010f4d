"""Architectures: what is known of each, which processors a generic target runs on, and which arch lists serve which.

Imports the floor only. Never knows a kernel.
"""
