# SPDX-License-Identifier: Apache-2.0
"""Reading sealed folders, and refusing what isn't one."""

import json
from pathlib import Path

import pytest

from pathwarp.base.complaints import Complaints
from pathwarp.results.reading import TrialResult, by_group, load_results


def seal(root: Path, variant: str, traffic: str, seed: int, **metrics: object) -> Path:
    folder = root / "path-failure" / variant / traffic / f"seed-{seed:03d}"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "files": {}}))
    (folder / "metrics.json").write_text(json.dumps(metrics))
    return folder


def test_order_is_traffic_variant_seed(tmp_path: Path) -> None:
    for traffic in ("maps", "docs"):
        for variant in ("tlp-mp", "tlp-std"):
            for seed in (10, 2):
                seal(tmp_path, variant, traffic, seed)
    found = load_results(tmp_path, "path-failure", ["tlp-std", "tlp-mp"], ["docs", "maps"])
    assert [(r.traffic, r.variant, r.seed) for r in found[:3]] == [
        ("docs", "tlp-std", 2),
        ("docs", "tlp-std", 10),
        ("docs", "tlp-mp", 2),
    ]
    assert list(by_group(found)) == ["docs", "maps"]
    assert list(by_group(found)["maps"]) == ["tlp-std", "tlp-mp"]


def test_only_the_seeds_asked_for_and_sealed(tmp_path: Path) -> None:
    for seed in (1, 2, 4):
        seal(tmp_path, "tlp-mp", "docs", seed)
    found = load_results(tmp_path, "path-failure", ["tlp-mp", "tlp-std"], ["docs"], range(2, 6))
    assert [result.seed for result in found] == [2, 4]


@pytest.mark.parametrize("missing", ["manifest.json", "metrics.json"])
def test_unsealed_folders_are_refused_by_name_all_at_once(tmp_path: Path, missing: str) -> None:
    seal(tmp_path, "tlp-mp", "docs", 1)
    for seed in (2, 3):
        (seal(tmp_path, "tlp-mp", "docs", seed) / missing).unlink()
    with pytest.raises(Complaints) as caught:
        load_results(tmp_path, "path-failure", ["tlp-mp"], ["docs"])
    text = str(caught.value)
    assert len(caught.value.complaints) == 2
    assert "seed-002" in text and "seed-003" in text and f"{missing} is missing" in text


@pytest.mark.parametrize("content", ["{", "[1]", b"\xff\xfe"])
def test_unreadable_metrics_are_a_complaint(tmp_path: Path, content: str | bytes) -> None:
    path = seal(tmp_path, "tlp-mp", "docs", 1) / "metrics.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(Complaints, match=r"metrics\.json"):
        load_results(tmp_path, "path-failure", ["tlp-mp"], ["docs"])


def test_in_progress_folders_are_not_results(tmp_path: Path) -> None:
    seal(tmp_path, "tlp-mp", "docs", 1)
    (tmp_path / "path-failure/tlp-mp/docs/.seed-002.in-progress").mkdir()
    assert len(load_results(tmp_path, "path-failure", ["tlp-mp"], ["docs"])) == 1


def test_nothing_run_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(Complaints, match="make scenario=path-failure variant=tlp-mp traffic=docs"):
        load_results(tmp_path, "path-failure", ["tlp-mp"], ["docs"])


def test_incomplete_is_not_the_same_as_not_hit() -> None:
    def result(**metrics: object) -> TrialResult:
        return TrialResult("s", "v", "t", 1, metrics)

    key = "affected_burst_completion_time_ms"
    assert result(affected_burst=7, **{key: None}).incomplete
    assert not result(affected_burst=None, **{key: None}).incomplete
    assert not result(affected_burst=7, **{key: 250.0}).incomplete
    assert result(affected_burst=7, **{key: 250}).value(key) == 250.0
    assert result(one_way_delay_ms={}).value("one_way_delay_ms") is None
    assert result().value(key) is None
