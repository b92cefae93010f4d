"""Tuning spaces: what can vary, what must hold, and exact answers about all that is valid."""

from winnow.tuning.axes import POLICY, Choice, KnobAxis, Policy, Value, choices, flag, gated, values
from winnow.tuning.estimate import Size
from winnow.tuning.identity import (
    canonicalise,
    config_key,
    defaults_fingerprint,
    drop_base_equal,
    key_of,
    names_variant,
    sorted_knobs,
    tuning_id,
)
from winnow.tuning.opaque import opaque
from winnow.tuning.rules import Rule, rule
from winnow.tuning.space import TuningSpace

__all__ = [
    "POLICY",
    "Choice",
    "KnobAxis",
    "Policy",
    "Rule",
    "Size",
    "TuningSpace",
    "Value",
    "canonicalise",
    "choices",
    "config_key",
    "defaults_fingerprint",
    "drop_base_equal",
    "flag",
    "gated",
    "key_of",
    "names_variant",
    "opaque",
    "rule",
    "sorted_knobs",
    "tuning_id",
    "values",
]
