"""Architectures: what is known of each, which processors a generic target runs on, and which arch lists serve which.

Imports nothing above the floor. Never knows a kernel.
"""
