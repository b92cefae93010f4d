"""The C++ side of an engine: hooks that its descriptors name, a census of its packs, and build fragments."""

from __future__ import annotations

import json
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from winnow.descriptors.duplicates import devices_of, served
from winnow.descriptors.generate import discriminator_symbol, symbols_of
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError
from winnow.operators import OPERATORS
from winnow.settings.header import Header, slug_of
from winnow.settings.manifest import Manifest

_CPP_TYPES = {
    "bool": "bool",
    "int": "std::int64_t",
    "float": "double",
    "string": "std::string",
    "int_list": "std::vector<std::int64_t>",
}
_ACCESSORS = {
    "bool": "getBoolMetadata",
    "int": "getIntMetadata",
    "float": "getFloatMetadata",
    "string": "getStringMetadata",
    "int_list": "getIntListMetadata",
}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULT_ARCH = "gfx942"
_WAVE32 = ("gfx10", "gfx11", "gfx12")


def native_files(header: Header, catalog: Catalog) -> dict[str, str]:
    """The text of each file by relative name; the same bytes for the same engine.

    Matching compares what a manifest's `match` says; where there is none, every metadata field but the knobs for
    equality.

    Raises:
        InputError: a field's name cannot be a part of a C++ identifier.
    """
    environment = Environment(
        loader=PackageLoader("winnow.descriptors"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["literal"] = json.dumps
    context = _context(header, catalog)
    pascal = context["pascal"]
    names = {
        f"packs/{pascal}Native.cpp": "native.cpp.j2",
        f"tests/Test{pascal}Packs.cpp": "packs_test.cpp.j2",
        f"tests/Test{pascal}Matchers.cpp": "matchers_test.cpp.j2",
        f"fragments/{context['slug']}.cmake": "fragment.cmake.j2",
        f"fragments/{context['slug']}_registration.inc": "registration.inc.j2",
    }
    return {name: environment.get_template(template).render(context) for name, template in names.items()}


def _context(header: Header, catalog: Catalog) -> dict[str, Any]:
    local = header.engine.name.partition(":")[2]
    rules = _rules(header)
    symbols = symbols_of(header)
    arches = list(devices_of(catalog))
    ranked = header.engine.heuristic == "native"
    operations = [
        {"name": disc, "identifier": re.sub(r"\W", "_", disc), "symbol": discriminator_symbol(header, disc)}
        for disc in _discriminators(catalog)
    ]
    hooks = ["graph_match", "kernel_match", *(["score"] if ranked else []), "dispatch"]
    arch = arches[0] if arches else _DEFAULT_ARCH
    return {
        "engine": header.engine.name,
        "slug": slug_of(header.engine.name),
        "pascal": "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", local)),
        "symbols": symbols,
        "ranked": ranked,
        "rules": rules,
        "asked": list(
            {rule["field"]: {"name": rule["field"], "cpp_type": rule["cpp_type"]} for rule in rules}.values()
        ),
        "operations": operations,
        "hooks": [*(f"{symbols}.{hook}" for hook in hooks), *(operation["symbol"] for operation in operations)],
        "census": _census(catalog, arches),
        "arches": arches,
        "files": list(catalog.files()),
        "descriptor_files_var": f"{slug_of(header.engine.name).upper()}_DESCRIPTORS",
        "fixture": {"arch": arch, "wave_size": 32 if arch.startswith(_WAVE32) else 64},
    }


def _rules(header: Header) -> list[dict[str, str]]:
    types = {field.name: field.type for field in header.kmd_fields}
    if isinstance(header, Manifest):
        stated = [(field, rule.operator, rule.against(field)) for field, rule in header.match.items()]
    else:
        stated = [(name, "equal", name) for name in types if name not in header.engine.knobs]
    rules = []
    for field, operator, metadata in stated:
        if OPERATORS[operator].admits is None:
            continue
        for name in (field, metadata):
            if not _IDENTIFIER.fullmatch(name):
                raise InputError(f'"{name}" cannot be a part of a C++ identifier', cure="rename the field")
        variable = f"kernel_{field}_{operator}"
        rules.append(
            {
                "field": field,
                "metadata": metadata,
                "variable": variable,
                "accessor": _ACCESSORS[types[metadata]],
                "cpp_type": _CPP_TYPES[types[metadata]],
                "condition": OPERATORS[operator].condition.format(field=field, variable=variable),
            }
        )
    return rules


def _discriminators(catalog: Catalog) -> list[str]:
    names = (name for name, umd in catalog.umds if umd.scope == "graph")
    return [name.removeprefix("operation_is_").removesuffix(".umd.json") for name in names]


def _census(catalog: Catalog, arches: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for arch in arches or [""]:
        packs: dict[str, list[str]] = {}
        for kdp, kernel, _ in served(catalog, arch):
            packs.setdefault(kdp.name, []).append(kernel.name)
        rows += ({"arch": arch, "pack": pack, "kernels": names} for pack, names in packs.items())
    return rows
