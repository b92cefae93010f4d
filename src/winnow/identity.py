"""Canonical JSON, digests and deterministic ids: the same value has the same identity everywhere."""

from __future__ import annotations

import gzip
import hashlib
import json
import uuid
from dataclasses import asdict, is_dataclass

_NAMESPACE = uuid.UUID("6d1c9d0a-0b1f-5a53-9a8e-6f1c7a0f6e11")
_SYSTEM, _UNIX = 9, b"\x03"
"""Where a gzip header states the system, and what it is stated to be (RFC 1952)."""


def canonical_json(value: object, *, ensure_ascii: bool = True) -> str:
    """Compact JSON with sorted keys: the text that digests are taken over. NaN and infinities are refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=ensure_ascii, allow_nan=False)


def pretty_json(value: object) -> str:
    """The text of a descriptor file: two spaces, insertion order, one newline at the end."""
    return json.dumps(value, indent=2, sort_keys=False, allow_nan=False) + "\n"


def sha256_hex(data: bytes | str) -> str:
    """SHA-256 in 64 lower-case hex digits (text is taken as UTF-8)."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def stable_json_hash(payload: object, n: int = 16) -> str:
    """The first `n` hex digits of the SHA-256 over the canonical JSON of `payload` (rocKE's recipe)."""
    return sha256_hex(canonical_json(payload))[:n]


def spec_identity(spec: object) -> str:
    """Hash of a spec: its own `identity()` if it has one, else its fields, else its kernel name, else repr."""
    identity = getattr(spec, "identity", None)
    if callable(identity):
        return stable_json_hash(identity())
    if is_dataclass(spec) and not isinstance(spec, type):
        return stable_json_hash(asdict(spec))
    kernel_name = getattr(spec, "kernel_name", None)
    return stable_json_hash(kernel_name() if callable(kernel_name) else repr(spec))


def descriptor_id(engine: str, kind: str, name: str) -> str:
    """UUIDv5 of (engine, kind, name): generating a catalog twice gives the same ids."""
    return str(uuid.uuid5(_NAMESPACE, canonical_json([engine, kind, name])))


def fnv1a_64(text: str) -> int:
    """64-bit FNV-1a of UTF-8 text: the numeric id that hipDNN gives an engine of this name."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def record_digest(value: object) -> str:
    """SHA-256 over compact JSON with sorted keys: the digest of every record here and in the sidecar."""
    return sha256_hex(canonical_json(value, ensure_ascii=False))


def gzipped(data: bytes) -> bytes:
    """Compressed as gzip, without a time, and as from Unix: newer Pythons would state no system."""
    raw = gzip.compress(data, compresslevel=9, mtime=0)
    return raw[:_SYSTEM] + _UNIX + raw[_SYSTEM + 1 :]
