"""Which x86-64 level a machine runs: one too high is an illegal instruction, one too low hides the best kernels."""

from __future__ import annotations

import platform
import subprocess

import pytest

from winnow.errors import InputError
from winnow.targets.cpu import host_flags, host_level, level_of, march, vector_bytes

_V1 = "cmov cx8 fpu fxsr mmx syscall sse sse2"
_V2 = f"{_V1} cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"
_V3 = f"{_V2} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
_V4 = f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl"


def cpuinfo(tmp_path, *flags: str):
    path = tmp_path / "cpuinfo"
    path.write_text("".join(f"processor : {i}\nflags\t\t: {row} hypervisor\n\n" for i, row in enumerate(flags)))
    return path


@pytest.mark.parametrize(("flags", "level"), [(_V2, "x86-64-v2"), (_V3, "x86-64-v3"), (_V4, "x86-64-v4")])
def test_a_level_needs_every_one_of_its_features(tmp_path, flags, level):
    assert host_level(cpuinfo(tmp_path, flags)) == level
    for missing in set(flags.split()) - set(_V2.split()):
        fewer = frozenset(flags.split()) - {missing}
        assert level_of(fewer) < level


def test_avx512_without_the_level_below_does_not_count(tmp_path):
    """Hypervisors mask single features; a v4 object uses those of v3 too."""
    assert host_level(cpuinfo(tmp_path, _V4.replace(" movbe", ""))) == "x86-64-v2"


def test_a_hybrid_processor_runs_what_all_its_cores_run(tmp_path):
    path = cpuinfo(tmp_path, _V4, _V3)
    assert host_level(path) == "x86-64-v3"
    assert "hypervisor" in host_flags(path)


def test_a_machine_below_v2_says_what_it_lacks(tmp_path):
    path = cpuinfo(tmp_path, _V1 + " cx16 lahf_lm pni ssse3")
    with pytest.raises(InputError) as caught:
        host_level(path)
    assert str(caught.value) == (
        f"{path}: this processor lacks popcnt, sse4_1, sse4_2, which x86-64-v2 needs\n  cure: the CPU device needs "
        "x86-64-v2 or higher; in a virtual machine, pass the host's processor through"
    )


def test_another_system_is_told_so(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(InputError) as caught:
        host_level()
    assert str(caught.value) == (
        "the CPU device needs Linux on x86_64 (this is linux on aarch64)\n  cure: use another device, or an x86_64 "
        "Linux machine or container"
    )


def test_a_missing_or_empty_list_of_processors_is_an_error(tmp_path):
    with pytest.raises(InputError) as caught:
        host_level(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path}/none: cannot be read: No such file or directory"
    (tmp_path / "empty").write_text("processor : 0\n")
    with pytest.raises(InputError) as caught:
        host_level(tmp_path / "empty")
    assert str(caught.value) == f"{tmp_path}/empty: no line of flags in it\n  cure: mount /proc of the host"


def test_the_systems_loader_agrees_about_this_machine():
    """glibc decides by the same levels, from the processor itself instead of the kernel's list."""
    loader = "/lib64/ld-linux-x86-64.so.2"
    try:
        said = subprocess.run([loader, "--help"], capture_output=True, text=True, check=False).stdout
    except OSError:
        pytest.skip("no glibc loader here")
    levels = [
        line.split()[0] for line in said.splitlines() if line.strip().startswith("x86-64-v") and "supported" in line
    ]
    if not levels:
        pytest.skip("this glibc does not list the levels")
    assert host_level() == max(levels)


def test_targets_mean_a_level_and_a_register_width():
    table = {t: (march(t), vector_bytes(t)) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-generic")}
    assert table == {
        "x86-64-v2": ("x86-64-v2", 16),
        "x86-64-v3": ("x86-64-v3", 32),
        "x86-64-v4": ("x86-64-v4", 64),
        "x86-64-generic": ("x86-64-v2", 16),
    }


@pytest.mark.parametrize("function", [march, vector_bytes])
def test_an_unknown_target_names_the_nearest_one(function):
    with pytest.raises(InputError) as caught:
        function("x86-64-v5")
    assert str(caught.value).startswith('"x86-64-v5" is not a CPU target\n  cure: did you mean "x86-64-v')
