# SPDX-License-Identifier: Apache-2.0
"""Which inputs of a sealed trial are no longer those of now."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    plan = _plan(folder)
    return {
        **_products(manifest["inputs"], manifest["kernel"], manifest["lab"]),
        "backend": manifest["backend"],
        "time mode": manifest["time_mode"],
        "trace": manifest["traffic"]["trace_sha256"],
        "link trace": manifest.get("link_traces", {}),
        "plan": plan,
    }


def _current(job: Job) -> dict[str, Any]:
    trial = job.trial
    return {
        **_products(job.hashes, job.kernel_record, job.lab_record),
        "backend": trial.backend,
        "time mode": trial.time_mode,
        "trace": trial.replay.sha256,
        "link trace": dict(trial.replay.link_traces),
        # As JSON has it: lists, no tuples.
        "plan": json.loads(json.dumps({**trial.guest_plan(), "release": job.kernel_record["release"]})),
    }


def _products(hashes: dict[str, str], kernel: dict[str, Any], lab: dict[str, Any]) -> dict[str, Any]:
    """What was built: the hash that counts, and what it was made from, which says why the hash changed."""
    patches = {patch["file"]: patch["sha256"] for patch in kernel["patches"]}
    names = ("source", "compiler", "config_sha256")
    return {
        "kernel": {"binary": hashes["kernel"], "patches": patches, **{name: kernel[name] for name in names}},
        "lab root": {"packages": hashes["lab"], "package": lab["packages"]},
        "guest code": hashes["guest"],
    }


def _plan(folder: Path) -> Any:
    try:
        return json.loads((folder / "logs" / "plan.json").read_text())
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
