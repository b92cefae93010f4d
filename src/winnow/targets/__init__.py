"""Targets: what each architecture offers, which processors a generic one covers, and which arch lists compete."""
