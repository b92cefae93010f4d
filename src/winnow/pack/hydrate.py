"""From a kernel source in a descriptor to its builder and a real spec object, judged by the builder's own predicate."""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

from winnow.errors import InputError, Place, Refused, nearest
from winnow.pack.instance import instance
from winnow.strict.document import Document


@dataclass(frozen=True)
class Authored:
    """A kernel as its descriptor states it: who it is, where it stands, and what to build it from."""

    kernel: str
    place: Place
    source: str
    builder: str
    spec: Mapping[str, Any]

    def fail(self, problem: str, *, key: str = "", cure: str | None = None) -> InputError:
        """An error about this kernel; `key` is the part of its kernel source that is wrong."""
        return InputError(f"{self.kernel}: {problem}", place=self.at(key), cure=cure)

    def at(self, key: str = "") -> Place:
        """Where the kernel's source, or one key of it, stands."""
        return Place(self.place.file, self.place.line, ".".join(filter(None, (self.place.key, "kernel_source", key))))


@dataclass(frozen=True)
class Hydrated:
    """A builder with the spec object that it would be given, and the predicate that judges such specs."""

    authored: Authored
    builder: Callable[..., Any]
    predicate: Callable[..., Any]
    spec: Any

    @property
    def builder_name(self) -> str:
        """The builder as errors call it, `module.function`."""
        return f"{self.builder.__module__}.{self.authored.builder}"


def module_name(source: str) -> str | None:
    """The dotted module of `a.b` or `a/b.py`; None where the text names no module."""
    dotted = source.removesuffix(".py").replace("/", ".")
    return dotted if all(part.isidentifier() for part in dotted.split(".")) else None


def hydrate(authored: Authored, *, allowed: frozenset[str]) -> Hydrated:
    """The builder, its predicate and the spec of a kernel. Imports only modules at or below one of `allowed`.

    Raises:
        InputError: a module that is not allowed or cannot be imported, a builder that is missing, has another
            signature than `(spec, *, arch)` or no predicate, or a spec that does not fit the builder's spec class.
    """
    module = _import(authored, allowed)
    builder = getattr(module, authored.builder, None)
    if not callable(builder):
        builders = [name for name, value in vars(module).items() if name.startswith("build_") and callable(value)]
        raise authored.fail(
            f'module {module.__name__} has no builder "{authored.builder}"',
            key="builder",
            cure=nearest(authored.builder, builders),
        )
    name = f"{module.__name__}.{authored.builder}"
    _check_signature(authored, name, builder)
    spec_class = _spec_class(authored, name, builder)
    predicate = _predicate(authored, name, module, spec_class)
    return Hydrated(authored, builder, predicate, _spec(authored, spec_class))


def check_support(hydrated: Hydrated, target: str) -> None:
    """Ask the builder's predicate whether this spec can be built for `target`.

    Raises:
        Refused: it says no, with its reason.
        InputError: it raises, or answers with anything but yes or no.
    """
    authored, name = hydrated.authored, f"{hydrated.predicate.__module__}.{hydrated.predicate.__name__}"
    asks_arch = "arch" in inspect.signature(hydrated.predicate).parameters
    try:
        answer = hydrated.predicate(hydrated.spec, **({"arch": target} if asks_arch else {}))
    except Exception as error:
        said = f"{name}, the predicate of {hydrated.builder_name}, raised {_said(error)}"
        field = getattr(error, "name", None) if isinstance(error, AttributeError) else None
        if field is not None:
            said += f' (it reads the field "{field}")'
        raise authored.fail(said, key="spec", cure="a predicate that raises judges nothing: mend it") from error
    yes, reason = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, "")
    if type(yes) is not bool or not isinstance(reason, str):
        raise authored.fail(f"{name} answered {answer!r}, not (bool, reason)", key="spec")
    if not yes:
        raise Refused(
            f"{authored.kernel}: {hydrated.builder_name} does not support this spec on {target}: "
            f"{reason or 'no reason given'}",
            place=authored.at("spec"),
            cure="take the variant out of the selection, or correct its spec",
        )


def build_source(hydrated: Hydrated, target: str) -> Any:
    """What the builder makes of the spec for `target`: a kernel source value.

    Raises:
        InputError: the builder raised.
    """
    try:
        return hydrated.builder(hydrated.spec, arch=target)
    except NotImplementedError as error:
        problem = f"{hydrated.builder_name} does not build for {target}: {error}"
        raise hydrated.authored.fail(problem, key="builder") from error
    except Exception as error:
        problem = f"{hydrated.builder_name} failed for {target}: {_said(error)}"
        raise hydrated.authored.fail(problem, key="builder") from error


def _import(authored: Authored, allowed: frozenset[str]) -> types.ModuleType:
    name = module_name(authored.source)
    if name is None:
        raise authored.fail(
            f'"{authored.source}" names no module', key="source", cure="write it as a.b.c or as a/b/c.py"
        )
    if not any(name == prefix or name.startswith(prefix + ".") for prefix in allowed):
        raise authored.fail(
            f'module "{name}" is not one that the manifest names, so it is not imported',
            key="source",
            cure="name it under enumerate.builders in engine.yaml (allowed now: "
            f"{', '.join(sorted(allowed)) or 'none'})",
        )
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise authored.fail(
            f'module "{name}" cannot be imported: {_said(error)}',
            key="source",
            cure="install the package that holds it, or correct the name",
        ) from error


def _check_signature(authored: Authored, name: str, builder: Callable[..., Any]) -> None:
    parameters = list(inspect.signature(builder).parameters.values())
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    exact = (
        [parameter.name for parameter in parameters] == ["spec", "arch"]
        and parameters[0].kind in positional
        and parameters[0].default is inspect.Parameter.empty
        and parameters[1].kind is inspect.Parameter.KEYWORD_ONLY
    )
    if not exact:
        raise authored.fail(
            f"builder {name}{inspect.signature(builder)} does not have the signature (spec, *, arch)",
            key="builder",
            cure="put every other choice into the spec: a further argument would silently keep its default",
        )


def _spec_class(authored: Authored, name: str, builder: Callable[..., Any]) -> type:
    hint = _hints(authored, builder).get("spec")
    if not isinstance(hint, type) or not is_dataclass(hint):
        raise authored.fail(
            f"builder {name} does not say which dataclass its spec is",
            key="builder",
            cure="annotate its first parameter with the spec's dataclass",
        )
    return hint


def _predicate(authored: Authored, name: str, module: types.ModuleType, spec_class: type) -> Callable[..., Any]:
    wanted = "supports_" + authored.builder.removeprefix("build_")
    predicate: Callable[..., Any] | None = getattr(module, wanted, None)
    if not callable(predicate):
        predicate = _by_type(authored, module, spec_class)
    if predicate is None:
        raise authored.fail(
            f"builder {name} has no support predicate {wanted}(spec, *, arch)",
            key="builder",
            cure="write one: without it nothing refuses a spec that cannot be built",
        )
    judged = _judges(authored, predicate)
    if isinstance(judged, type) and not issubclass(spec_class, judged):
        raise authored.fail(
            f"{wanted} judges {judged.__name__}, but builder {name} builds from {spec_class.__name__}", key="builder"
        )
    return predicate


def _by_type(authored: Authored, module: types.ModuleType, spec_class: type) -> Callable[..., Any] | None:
    """The module's only predicate for specs of this class, or of the nearest class that it derives from."""
    named = [
        value
        for key, value in vars(module).items()
        if (key.startswith("supports_") or key == "is_valid_spec") and callable(value)
    ]
    for judged in spec_class.__mro__[:-1]:
        found = [predicate for predicate in named if _judges(authored, predicate) is judged]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _judges(authored: Authored, predicate: Callable[..., Any]) -> Any:
    """The annotation of a predicate's first parameter; None where it has none."""
    first = next(iter(inspect.signature(predicate).parameters), "")
    return _hints(authored, predicate).get(first)


def _hints(authored: Authored, annotated: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(annotated)
    except (NameError, AttributeError, TypeError) as error:
        problem = f"the annotations of {annotated.__module__}.{annotated.__qualname__} name nothing: {_said(error)}"
        raise authored.fail(problem, key="builder") from error


def _spec(authored: Authored, spec_class: type) -> Any:
    _hints(authored, spec_class)
    place, key = authored.at(), authored.at().key or ""
    document = Document(place.file, {key: {"spec": dict(authored.spec)}}, {})
    try:
        return instance(spec_class, document, key, "spec")
    except InputError as error:
        where = Place(place.file, place.line, None if error.place is None else error.place.key)
        raise InputError(f"{authored.kernel}: {error.message}", place=where, cure=error.cure) from error


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
