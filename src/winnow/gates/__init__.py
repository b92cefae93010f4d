"""Gates: what must hold between an engine's artefacts, as values over one inspection of the engine's directory.

Imports every room below. Never prints, and never knows how a verdict is shown.
"""
