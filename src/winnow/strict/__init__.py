"""The one strict reader: documents with places, from JSON and YAML, checked by hand or by a schema.

Imports `errors` and `files`. `document`, `json_reader` and `record` need neither pydantic nor ruamel.yaml; nothing here
knows what a file is for.

Imports `errors` and `files`. Never knows what a document is about.
"""
