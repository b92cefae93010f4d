"""The cache of compiled objects: addressed by everything that decides their bytes, checked on every read."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

from winnow.compilers.code_object import Argument, CodeObject
from winnow.errors import InputError
from winnow.files import write_atomic
from winnow.identity import canonical_json, sha256_hex

COMPILE_SCHEMA = 1
"""Raise it when Winnow comes to compile the same source, target and toolchain differently."""

_DIGEST_BYTES = 64


def object_key(source: Any, target: str, identity: Mapping[str, str]) -> str:
    """The address of the object that `source` becomes for `target` with the compiler of that identity.

    Raises:
        InputError: the source is not made of frozen dataclasses, tuples, mappings, text and numbers alone, so that
            nothing can vouch for two of them being equal.
    """
    return sha256_hex(
        canonical_json(
            {
                "schema": COMPILE_SCHEMA,
                "source": _plain(source, type(source).__name__),
                "target": target,
                "compiler": dict(identity),
            }
        )
    )


def _plain(value: Any, where: str) -> Any:
    """A value as JSON that no other value has."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) is tuple:
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {"map": [[key, _plain(value[key], f"{where}.{key}")] for key in sorted(value)]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        cls = type(value)
        names = [item.name for item in dataclasses.fields(value)]
        content = {name: _plain(getattr(value, name), f"{where}.{name}") for name in names}
        return {"class": f"{cls.__module__}.{cls.__qualname__}", "fields": content}
    raise InputError(
        f"{where} is a {type(value).__name__}, by which a compiled object cannot be addressed",
        cure="kernel sources are frozen dataclasses of tuples, text and numbers",
    )


@dataclass(frozen=True)
class ObjectCache:
    """Objects in a directory that may be deleted at any time: it costs only the time to compile again."""

    directory: Path

    def path(self, key: str) -> Path:
        """Where the object of `key` lies, if it does."""
        return self.directory / key[:2] / f"{key[2:]}.object"

    def get(self, key: str) -> CodeObject | None:
        """The object of `key`; None where there is none. A damaged entry is removed and counts as none."""
        path = self.path(key)
        try:
            raw = path.read_bytes()
        except OSError:
            return None
        found = _decode(raw)
        if found is None:
            with contextlib.suppress(OSError):
                path.unlink()
        return found

    def put(self, key: str, compiled: CodeObject) -> None:
        """Keep an object. A directory that cannot be written to keeps nothing, and packing goes on."""
        with contextlib.suppress(OSError):
            write_atomic(self.path(key), _encode(compiled))


def _encode(compiled: CodeObject) -> bytes:
    body: bytes = msgpack.packb(
        {
            "target": compiled.target,
            "symbol": compiled.symbol,
            "payload": compiled.payload,
            "signature": [dataclasses.astuple(argument) for argument in compiled.signature],
            "resources": dict(compiled.resources),
        }
    )
    return sha256_hex(body).encode() + body


def _decode(raw: bytes) -> CodeObject | None:
    digest, body = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
    if sha256_hex(body).encode() != digest:
        return None
    entry = msgpack.unpackb(body)
    signature = tuple(Argument(*fields) for fields in entry["signature"])
    return CodeObject(entry["target"], entry["symbol"], entry["payload"], signature, entry["resources"])
