"""Small kernels in C, as a family would define them."""

from __future__ import annotations

from dataclasses import dataclass

from winnow.compilers.source import CSource, Parameter

TEXT = """
void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{
    const float *in = args->in;
    float *out = args->out;
    for (int32_t i = 0; i < args->n; i += TILE)
        for (int32_t j = i; j < i + TILE && j < args->n; j++)
            out[j] = args->scale * in[j];
}
"""


@dataclass(frozen=True)
class ScaleSpec:
    dtype: str
    tile: int
    fast: bool = False

    def tile_multiple(self) -> int:
        return self.tile


def supports_scale(spec: ScaleSpec, *, arch: str) -> tuple[bool, str]:
    return True, ""


def build_scale(spec: ScaleSpec, *, arch: str) -> CSource:
    parameters = (Parameter("in", "ptr"), Parameter("out", "ptr"), Parameter("n", "i32"), Parameter("scale", "f32"))
    text = TEXT if spec.tile != 13 else TEXT.replace("args->scale", "args->scael")
    return CSource(f"scale_t{spec.tile}", text, parameters, (("TILE", spec.tile),))
