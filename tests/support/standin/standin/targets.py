"""One architecture of an accelerator that nobody has."""

from winnow.targets.arches import ArchFacts, TargetTable

_TOY = ArchFacts(name="toy1", runtime="toy", device="toy", family="toy", target_family="toy", source="made up")

TABLE = TargetTable(arches=(_TOY,))
