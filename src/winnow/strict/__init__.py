"""The one strict reader: documents with places, from JSON and YAML, checked by hand or by a schema.

Imports `errors` and `files`; `document`, `json_reader` and `record` need neither pydantic nor ruamel.yaml. Never knows
what a file is for.
"""
