# SPDX-License-Identifier: Apache-2.0
"""Predictions of sealed trials: only where the guest's clock and the variant's timers are known."""

import pytest
from test_measure_timing import BOOT, VARIANTS, course, predicted

from pathwarp.present.predictions import predict
from pathwarp.results.reading import TrialResult

VIRTUAL = {
    "inputs": {"boot": ["unshare", "time-travel=inf-cpu", f"time-travel-start={BOOT}"]},
    "sysctls": {"server": VARIANTS["rej-k1"].sysctls, "client": VARIANTS["rej-k1"].sysctls},
}
OTHER_READING = {**VIRTUAL, "sysctls": {"server": {**VARIANTS["rej-k1"].sysctls, "net.mptcp.rej_rttvar": "1"}}}
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
    [
        trial(manifest=REAL),
        trial(manifest={}),
        trial(known=False),
        trial(variant="gone"),
        trial(variant="rej-k1", manifest=OTHER_READING),
    ],
    ids=["real time", "no manifest", "no course", "no such variant", "another reading of REJ's timer"],
)
def test_others_get_none(unknown: TrialResult) -> None:
    assert predict([unknown], VARIANTS) == [unknown]
    assert unknown.predicted_ms is None
