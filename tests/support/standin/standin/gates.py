"""A gate that knows this accelerator: the object's tile is the one that the metadata advertises."""

from winnow.gates.gate import Gate
from winnow.gates.verdict import Finding, judged, passed


def check(inspection):
    if inspection.manifest.family != "scale":
        return passed("toy-tiles", "not an engine of the family scale")
    findings, looked = [], 0
    for packed in inspection.packed:
        for kernel in packed.shard.kernels:
            looked += 1
            tile = packed.shard.objects[kernel.id].resources["tile"]
            if tile != kernel.completed["tile"]:
                findings.append(Finding(kernel.name, f"its object has the tile {tile}"))
    return judged("toy-tiles", f"{looked} objects", findings)


GATE = Gate("toy-tiles", ("archive",), check)
