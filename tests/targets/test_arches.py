"""Wrong facts let kernels through that cannot launch; an unknown name must say which one was meant."""

import pytest

from winnow.errors import InputError
from winnow.targets.arches import ARCHES, arch_facts
from winnow.targets.generics import GENERICS


@pytest.mark.parametrize(
    ("name", "wave", "lds", "registers"),
    [
        ("gfx90a", 64, 65536, (512, 256, 102)),
        ("gfx942", 64, 65536, (512, 256, 102)),
        ("gfx950", 64, 163840, (512, 256, 102)),
        ("gfx1151", 32, 65536, (256, 0, 106)),
        ("gfx1100", 32, 65536, (256, 0, 106)),
        ("gfx1201", 32, 65536, (256, 0, 106)),
        ("gfx1250", 32, 163840, (256, 0, 106)),
        ("gfx11-generic", 32, 65536, (256, 0, 106)),
        ("gfx12-generic", 32, 65536, (256, 0, 106)),
        ("sm_80", 32, 166912, (255, 0, 0)),
        ("sm_90", 32, 232448, (255, 0, 0)),
    ],
)
def test_gpu_numbers(name: str, wave: int, lds: int, registers: tuple[int, int, int]) -> None:
    facts = arch_facts(name)
    assert (facts.wave_size, facts.lds_bytes) == (wave, lds)
    assert (facts.vgprs, facts.agprs, facts.sgprs) == registers
    assert facts.max_threads_per_block == 1024


def test_gfx1250_is_cdna_by_name_and_wave32_by_fact() -> None:
    facts = arch_facts("gfx1250")
    assert (facts.family, facts.wave_size, facts.memory) == ("cdna", 32, {"async_global_lds", "tdm"})


@pytest.mark.parametrize(
    ("name", "width"), [("x86-64-v2", 16), ("x86-64-v3", 32), ("x86-64-v4", 64), ("x86-64-generic", 16)]
)
def test_cpu_vector_widths(name: str, width: int) -> None:
    assert arch_facts(name).vector_bytes == width


def test_every_row_has_a_source_and_every_member_of_a_generic_is_known() -> None:
    assert all(facts.source and facts.name == name for name, facts in ARCHES.items())
    for generic, members in GENERICS.items():
        assert {generic, *members} <= set(ARCHES)


@pytest.mark.parametrize("name", sorted(GENERICS))
def test_a_generic_promises_no_more_than_each_member_has(name: str) -> None:
    generic = arch_facts(name)
    for member in map(arch_facts, GENERICS[name]):
        assert (generic.lds_bytes or 0) <= (member.lds_bytes or 0)
        assert (generic.vector_bytes or 0) <= (member.vector_bytes or 0)
        assert generic.vgprs <= member.vgprs
        assert set(generic.mma) <= set(member.mma)
        assert generic.wave_size == member.wave_size


def test_matrix_instructions_carry_the_names_of_the_compiler() -> None:
    names = {name: {op.op_id for op in arch_facts(name).mma} for name in ("gfx942", "gfx950", "gfx1151", "gfx1250")}
    assert "mfma_f32_32x32x16_fp8" in names["gfx942"]
    assert "mfma_f32_32x32x16_f16" in names["gfx950"] - names["gfx942"]
    assert {"mfma_f32_16x16x128_fp4", "mfma_f32_16x16x96_fp6"} <= names["gfx950"]
    assert names["gfx1151"] == {
        "wmma_f32_16x16x16_f16",
        "wmma_f32_16x16x16_bf16",
        "wmma_i32_16x16x16_iu8",
        "wmma_i32_16x16x16_iu4",
    }
    assert {"wmma_gfx1250_f32_16x16x64_fp8_bf8", "wmma_gfx1250_f32_16x16x4_f32"} <= names["gfx1250"]
    assert all(len(ops) == len({op.op_id for op in ops}) for ops in (facts.mma for facts in ARCHES.values()))


def test_an_unknown_arch_names_the_nearest() -> None:
    with pytest.raises(InputError) as error:
        arch_facts("gfx94")
    assert str(error.value) == 'unknown architecture "gfx94"\n  cure: did you mean "gfx942"?'
