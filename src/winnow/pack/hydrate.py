"""From a kernel source in a descriptor to its builder and a real spec object, judged by the builder's own predicate."""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, Literal

from winnow.errors import InputError, Place, Refused, nearest


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
    return Hydrated(authored, builder, predicate, _object(authored, spec_class, authored.spec, "spec"))


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


def _object(authored: Authored, cls: type, values: Any, key: str) -> Any:
    """An instance of a dataclass from plain data, with nothing converted and nothing passed over."""
    if not isinstance(values, Mapping):
        raise authored.fail(f"{cls.__name__} needs a mapping, not {values!r}", key=key)
    declared = {item.name: item for item in fields(cls) if item.init}
    for given in values:
        if given not in declared:
            raise authored.fail(
                f'{cls.__name__} has no field "{given}"', key=f"{key}.{given}", cure=nearest(given, declared)
            )
    missing = [name for name, item in declared.items() if name not in values and _required(item)]
    if missing:
        raise authored.fail(f'field "{missing[0]}" of {cls.__name__} is missing', key=key)
    hints = _hints(authored, cls)
    arguments = {name: _value(authored, hints[name], value, f"{key}.{name}") for name, value in values.items()}
    try:
        return cls(**arguments)
    except Exception as error:
        raise authored.fail(f"{cls.__name__} refuses this spec: {_said(error)}", key=key) from error


def _required(item: Field[Any]) -> bool:
    return item.default is MISSING and item.default_factory is MISSING


_SCALARS: Mapping[Any, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (float, int), str: (str,)}


def _value(authored: Authored, hint: Any, value: Any, key: str) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        arms = [arm for arm in typing.get_args(hint) if arm is not types.NoneType]
        if len(arms) == 1:
            return None if value is None else _value(authored, arms[0], value, key)
    if typing.get_origin(hint) is Literal:
        if any(value == choice and type(value) is type(choice) for choice in typing.get_args(hint)):
            return value
        choices = ", ".join(repr(choice) for choice in typing.get_args(hint))
        raise authored.fail(f"{value!r} is none of {choices}", key=key)
    if isinstance(hint, type) and is_dataclass(hint):
        return _object(authored, hint, value, key)
    if hint not in _SCALARS:
        shown = getattr(hint, "__name__", None) if typing.get_origin(hint) is None else None
        raise authored.fail(f"a field of type {shown or hint} cannot come from a descriptor", key=key)
    if type(value) not in _SCALARS[hint]:
        raise authored.fail(f"{value!r} is not of type {hint.__name__}", key=key)
    return float(value) if hint is float else value


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
