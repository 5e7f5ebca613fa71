# SPDX-License-Identifier: Apache-2.0
"""Which inputs of a sealed trial are no longer those of now."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pathwarp.plan.orders import PLAN, orders
from pathwarp.run.worker import Job

MOST = 5  # changes named of one input
LONGEST = 24  # characters of a value shown
_ABSENT = object()


def outdated_inputs(job: Job, manifest: dict[str, Any], folder: Path) -> list[str]:
    """Lines that name each input of the trial sealed in `folder` that differs from the job's, with both values.

    Empty when it can't be told: only the trial ids differ.
    """
    lines = []
    then, now = _sealed(manifest, folder), _current(job)
    for name, value in now.items():
        found = list(_leaves(name, then.get(name, _ABSENT), value))
        lines += [f"{path}: {_show(old)} when it was sealed, {_show(new)} now" for path, old, new in found[:MOST]]
        lines += [f"{name}: and {len(found) - MOST} more"] if len(found) > MOST else []
    return lines


def _sealed(manifest: dict[str, Any], folder: Path) -> dict[str, Any]:
    return {
        **_products(manifest["inputs"], manifest["kernel"], manifest["lab"]),
        "backend": manifest["backend"],
        "time mode": manifest["time_mode"],
        "trace": manifest["traffic"]["trace_sha256"],
        "link trace": manifest.get("link_traces", {}),
        "plan": _plan(folder),
    }


def _current(job: Job) -> dict[str, Any]:
    trial = job.trial
    return {
        **_products(job.inputs, job.kernel_record, job.lab_record),
        "backend": trial.backend,
        "time mode": trial.time_mode,
        "trace": trial.replay.sha256,
        "link trace": dict(trial.replay.link_traces),
        # As JSON has it: lists, no tuples.
        "plan": json.loads(orders(trial, job.kernel_record["release"])[PLAN]),
    }


def _products(inputs: Mapping[str, Any], kernel: dict[str, Any], lab: dict[str, Any]) -> dict[str, Any]:
    """What was made for the trial: the hash that counts, and what it was made from, which says why the hash changed.

    Before `identity.FORMAT` 2 there was one hash over all of the guest's code and how it is booted, of the lab root one
    over its packages, and none of the orders.
    """
    patches = {patch["file"]: patch["sha256"] for patch in kernel["patches"]}
    names = ("source", "compiler", "config_sha256")
    recorded = inputs["lab"] if isinstance(inputs["lab"], dict) else {"packages": inputs["lab"]}
    return {
        "kernel": {"binary": inputs["kernel"], "patches": patches, **{name: kernel[name] for name in names}},
        "lab root": {**recorded, "package": lab["packages"]},
        "guest code": inputs["guest"],
        "boot": inputs.get("boot", _ABSENT),
        "boot file": inputs.get("boot_files", _ABSENT),
        "ground": inputs.get("ground", _ABSENT),
        # The plan itself says more than its hash.
        "orders": {name: sha256 for name, sha256 in inputs.get("orders", {}).items() if name != PLAN},
    }


def _plan(folder: Path) -> Any:
    try:
        return json.loads((folder / PLAN).read_text())
    except (OSError, ValueError):
        return _ABSENT


def _leaves(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Every place at which two nested values differ."""
    if isinstance(old, list) and isinstance(new, list):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _leaves(f"{path}.{key}", old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif old != new:
        yield path, old, new


def _show(value: Any) -> str:
    if value is _ABSENT:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
