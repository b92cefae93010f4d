"""`winnow space`: count, sample or list a constrained space given as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json
from winnow.cli.options import JsonOption, of_group
from winnow.errors import InputError
from winnow.steps.space import Answer, instances, overview, read_space, size
from winnow.wording import amount


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON file with `params` and `constraints`.")],
    count: Annotated[bool, typer.Option("--count", help="The number of valid points.")] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="For every value of every parameter the valid points that have it.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=0, help="N uniformly random valid points.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="What --sample starts from.")] = 0,
    points: Annotated[bool, typer.Option("--list", help="Every valid point, one JSON object a line.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="At most N points of --list.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="Form of the file [default: by its name].", autocompletion=of_group("winnow.importers")
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    asked = [name for name, wanted in _asked(count, marginals, sample, points) if wanted]
    if len(asked) > 1:
        raise InputError(f"{' and '.join(asked)} are two questions", cure="ask one of them at a time")
    if limit is not None and not points:
        raise InputError("--limit goes with --list only")
    definition = read_space(file, form=form)
    space = definition.space
    with definition.located():
        if points:
            _print_points(islice(space.enumerate(), limit), as_json)
        elif sample is not None:
            _print_points(space.sample(sample, seed), as_json)
        elif marginals:
            _print_marginals(instances(space), as_json)
        elif count:
            _print_count(size(space), as_json)
        else:
            _print_overview(overview(space), as_json)
    return 0


def _asked(count: bool, marginals: bool, sample: int | None, points: bool) -> Sequence[tuple[str, bool]]:
    return (("--count", count), ("--marginals", marginals), ("--sample", sample is not None), ("--list", points))


def _print_count(answer: Answer, as_json: bool) -> None:
    if as_json:
        print_json({key: value for key, value in answer.items() if key != "text"})
    else:
        print(answer["count"] if answer["exact"] else answer["text"])


def _print_overview(answer: Answer, as_json: bool) -> None:
    if as_json:
        print_json({key: value for key, value in answer.items() if key != "text"})
        return
    print(f"{amount(answer['params'], 'parameters')}, {amount(answer['constraints'], 'constraints')}")
    print(f"{answer['cartesian']} points without constraints")
    print(f"{answer['count'] if answer['exact'] else answer['text']} valid")


def _print_marginals(answer: list[Answer], as_json: bool) -> None:
    if as_json:
        print_json({"marginals": answer})
        return
    for param in answer:
        print(param["param"])
        shown = [(json.dumps(entry["value"]), str(entry["count"])) for entry in param["values"]]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        for value, number in shown:
            print(f"  {value.ljust(widths[0])}  {number.rjust(widths[1])}")


def _print_points(points: Iterable[Answer], as_json: bool) -> None:
    if as_json:
        print_json({"points": list(points)})
        return
    for point in points:
        print(json.dumps(point, allow_nan=False))
