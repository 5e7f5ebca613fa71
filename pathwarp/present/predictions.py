# SPDX-License-Identifier: Apache-2.0
"""What the formulas of the variants' timers give for sealed trials, beside what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pathwarp.measure.timing.prediction import predict_ms
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.results.reading import TrialResult

# In the command that a guest in virtual time is started with: its clock at boot, which the timer wheel counts from.
_CLOCK = "time-travel-start="


def predict(results: Sequence[TrialResult], variants: Mapping[str, ResolvedVariant]) -> list[TrialResult]:
    """The same trials, each with what is predicted for it; unchanged where nothing can be."""
    return [_predicted(trial, variants.get(trial.variant)) for trial in results]


def _predicted(trial: TrialResult, variant: ResolvedVariant | None) -> TrialResult:
    course = trial.metrics.get("burst_course")
    boot_ns = _boot_ns(trial)
    if not course or variant is None or variant.timing is None or boot_ns is None:
        return trial
    # What both hosts had: the scenario may set more than the variant does.
    sysctls = next(iter(trial.manifest["sysctls"].values()))
    return replace(trial, predicted_ms=predict_ms(course, variant.timing, sysctls, boot_ns))


def _boot_ns(trial: TrialResult) -> int | None:
    """Where the guest's clock started (epoch ns); None in real time, where nobody knows how the timer wheel stands."""
    words = trial.manifest.get("inputs", {}).get("boot", ())
    return next((int(word.removeprefix(_CLOCK)) for word in words if word.startswith(_CLOCK)), None)
