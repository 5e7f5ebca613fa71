# SPDX-License-Identifier: Apache-2.0
"""Predictions of sealed trials: only where the guest's clock and the variant's timers are known."""

import pytest
from test_measure_timing import BOOT, VARIANTS, course, predicted

from pathwarp.present.predictions import predict
from pathwarp.results.reading import TrialResult

VIRTUAL = {"inputs": {"boot": ["unshare", "time-travel=inf-cpu", f"time-travel-start={BOOT}"]}}
REAL = {"inputs": {"boot": ["vagrant"]}}


def trial(variant: str = "tlp-mp", manifest: dict | None = None, known: bool = True) -> TrialResult:
    metrics = {"burst_course": course(6, 40, 0b11) if known else None}
    return TrialResult("tail-loss", variant, "tail-1", 1, metrics, VIRTUAL if manifest is None else manifest)


def test_a_trial_in_virtual_time_gets_what_the_formulas_give() -> None:
    (found,) = predict([trial()], VARIANTS)
    assert found.predicted_ms == pytest.approx(predicted("tlp-mp", 6, 40, 0b11))
    assert found.metrics == trial().metrics


@pytest.mark.parametrize(
    "unknown",
    [trial(manifest=REAL), trial(manifest={}), trial(known=False), trial(variant="gone")],
    ids=["real time", "no manifest", "no course", "no such variant"],
)
def test_others_get_none(unknown: TrialResult) -> None:
    assert predict([unknown], VARIANTS) == [unknown]
    assert unknown.predicted_ms is None
