"""A noise floor that is too low keeps kernels for luck; one that is too high drops kernels that users need."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from evidences import evidence

from winnow.evidence.rounds import choosing, paced, scoring, settled
from winnow.reduce.noise import aa_spread, graph_noise
from winnow.settings.reduction import Noise


def test_even_rounds_choose_and_odd_ones_score():
    assert (choosing(5), scoring(5)) == ([0, 2, 4], [1, 3])


@pytest.mark.parametrize("sigma", [0.01, 0.03])
def test_planted_noise_is_found(sigma):
    """The estimate has to be near what differences of medians of equal arms really are."""
    found = graph_noise(evidence([[1.0, 2.0]] * 40, rounds=12, noise=sigma, seed=3), Noise(floor=0, ceiling=1))
    random = np.random.Generator(np.random.PCG64(7))
    medians = np.median(sigma * random.standard_normal((2, 20_000, 6)), axis=2)
    true = float(np.quantile(np.abs(medians[0] - medians[1]), 0.95))
    fresh = np.abs(medians[0] - medians[1])
    covered = np.mean([(fresh <= math.log1p(noise.epsilon)).mean() for noise in found])
    assert 0.85 <= covered <= 0.995
    assert 0.7 * true <= np.median([noise.epsilon for noise in found]) <= 1.6 * true


def test_the_floor_holds_without_noise():
    assert {n.epsilon for n in graph_noise(evidence([[1.0], [2.0]]), Noise())} == {0.02}


def test_a_noisy_graph_gets_its_own_epsilon_and_beyond_the_ceiling_is_unresolved():
    calm = evidence([[1.0, 2.0]] * 5, rounds=8, noise=0.001)
    controls = calm.controls.copy()
    random = np.random.Generator(np.random.PCG64(1))
    controls[2] += 0.05 * random.standard_normal(controls[2].shape)
    controls[4] += 0.5 * random.standard_normal(controls[4].shape)
    found = graph_noise(replace(calm, controls=controls), Noise())
    assert [n.resolved for n in found] == [True, True, True, True, False]
    assert [n.epsilon for n in found][:2] == [0.02, 0.02]
    assert 0.02 < found[2].epsilon < 0.1
    assert found[4].epsilon == 0.1
    assert found[4].spread > 0.1


def test_arms_that_agree_by_accident_are_not_taken_for_steady():
    noisy = evidence([[1.0, 2.0]] * 5, rounds=4, noise=0.03, seed=2)
    controls = noisy.controls.copy()
    controls[1] = 0.0
    found = graph_noise(replace(noisy, controls=controls), Noise(floor=0.0, ceiling=1.0))
    others = [aa_spread(controls[g][:, [0, 2]], 0.95, seed=f"{g:012d}") for g in (0, 2, 3, 4)]
    assert found[1].spread == np.median([0.0, *others])
    assert found[1].spread > 0


def test_only_rounds_that_choose_set_the_noise():
    calm = evidence([[1.0, 2.0]] * 3, rounds=6, noise=0.01)
    shaken = calm.controls.copy()
    shaken[:, :, 1::2] += np.linspace(-1, 1, 3)[None, :, None]
    assert graph_noise(replace(calm, controls=shaken), Noise()) == graph_noise(calm, Noise())


def test_a_common_slowdown_of_a_round_is_no_noise():
    calm = evidence([[1.0, 2.0]] * 3, rounds=6)
    controls = calm.controls + np.array([0, 0, 0.4, 0, 0.2, 0])
    found = graph_noise(replace(calm, controls=controls), Noise())
    assert [n.spread for n in found] == pytest.approx([0.0] * 3, abs=1e-12)


def test_unmeasured_controls_fall_back_on_the_typical_graph():
    noisy = evidence([[1.0, 2.0]] * 4, rounds=4, noise=0.03)
    controls = noisy.controls.copy()
    controls[3] = np.nan
    found = graph_noise(replace(noisy, controls=controls), Noise(floor=0.0, ceiling=1.0))
    assert found[3].spread == np.median([aa_spread(controls[g][:, [0, 2]], 0.95, seed=f"{g:012d}") for g in range(3)])


def test_a_pruned_arm_is_compared_at_the_pace_of_its_round():
    """Round 0 was slow for all; an arm that only round 0 measured must not look slower for it."""
    times = np.array([[1.5, 1.0, 1.0], [1.6, 1.1, 1.1], [1.55, np.nan, np.nan], [np.nan] * 3])
    assert settled(times) == pytest.approx([1.0, 1.1, 1.05, np.nan], nan_ok=True)
    assert paced(times)[2, 0] == pytest.approx(1.05)


def test_without_a_complete_arm_times_stay_as_they_are():
    times = np.array([[1.0, np.nan], [np.nan, 2.0]])
    assert settled(times) == pytest.approx([1.0, 2.0])
