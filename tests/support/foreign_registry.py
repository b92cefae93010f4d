"""A kernel family that knows nothing of Winnow: what enumerate, plan, coverage and check must work with."""

from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace


@dataclass(frozen=True)
class CopyRequest:
    arch: str
    dtype: str
    width: int
    algorithm: str = "auto"
    spec_id: str = "auto"
    tuning_knobs: tuple = ()

    def dims(self):
        return {"width": self.width}

    def features(self):
        return frozenset()


@dataclass(frozen=True)
class CopySpec:
    dtype: str
    width: int
    tile: int = 64
    unroll: int = 1

    def lanes(self):
        return self.tile // 4


class Copy:
    """Copies rows of a given width; a tile must divide the width."""

    name, family, algorithm, spec_id, abi_version, priority = "copy_tiled", "copy", "copy_tiled", "v1", "1", 40
    capability = SimpleNamespace(arches=("gfx942", "gfx950"))
    opt_in = False
    tiles, unrolls = (16, 32, 64), (1, 2)

    def admits(self, request):
        if request.width > 4096:
            return False, "rows wider than 4096 need the other kernel"
        try:
            self.select_spec(request)
        except ValueError as error:
            return False, str(error)
        return True, ""

    def select_spec(self, request):
        tile = max((t for t in self.tiles if request.width % t == 0), default=self.tiles[0])
        spec = replace(CopySpec(request.dtype, request.width, tile), **dict(request.tuning_knobs))
        if spec.tile not in self.tiles or spec.unroll not in self.unrolls:
            raise ValueError(f"tile={spec.tile}, unroll={spec.unroll} is not in the tuning space")
        if request.width % spec.tile:
            raise ValueError(f"tile {spec.tile} does not divide the width {request.width}")
        return spec

    def sweep_space(self, request):
        fitting = (t for t in self.tiles if request.width % t == 0)
        return iter([CopySpec(request.dtype, request.width, t, u) for t in fitting for u in self.unrolls])

    def build(self, spec, arch):
        return asdict(spec)


class Registry:
    def candidates(self):
        return (Copy(),)


REGISTRY = Registry()


def build_copy(spec: CopySpec, *, arch: str):
    return asdict(spec)
