# SPDX-License-Identifier: Apache-2.0
"""Reading sealed folders, and refusing what isn't one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import sealed_writer

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.results.reading import TrialResult, Wanted, by_group, load_results

COMMAND = "make scenario=path-failure variant=tlp-mp traffic=docs"


def seal(root: Path, variant: str, traffic: str, seed: int, **metrics: object) -> Path:
    return sealed_writer.seal(root / "path-failure" / variant / traffic / f"seed-{seed:03d}", metrics)


def load(root: Path, variants: list[str], traffics: list[str], seeds: Sequence[int] | None = None) -> list[TrialResult]:
    """The results, in which nothing is wrong."""
    complaints: list[Complaint] = []
    found = load_results(root, [Wanted("path-failure", variants, traffics, seeds)], complaints, COMMAND)
    assert complaints == []
    return found


def test_order_is_traffic_variant_seed(tmp_path: Path) -> None:
    for traffic in ("maps", "docs"):
        for variant in ("tlp-mp", "tlp-std"):
            for seed in (10, 2):
                seal(tmp_path, variant, traffic, seed)
    found = load(tmp_path, ["tlp-std", "tlp-mp"], ["docs", "maps"])
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
    found = load(tmp_path, ["tlp-mp", "tlp-std"], ["docs"], range(2, 6))
    assert [result.seed for result in found] == [2, 4]


def test_results_that_are_not_there_come_with_the_command_that_makes_them(tmp_path: Path) -> None:
    with pytest.raises(Complaints) as caught:
        load_results(tmp_path, [Wanted("cut", ["tlp-mp"], ["docs"])], [], COMMAND)
    assert caught.value.complaints[0].hint == f"run them first: {COMMAND}"


@pytest.mark.parametrize(("missing", "words"), [("manifest.json", "is missing"), ("metrics.json", "has no metrics")])
def test_unsealed_folders_are_named_all_at_once_and_the_others_are_read(
    tmp_path: Path, missing: str, words: str
) -> None:
    seal(tmp_path, "tlp-mp", "docs", 1)
    for seed in (2, 3):
        (seal(tmp_path, "tlp-mp", "docs", seed) / missing).unlink()
    complaints: list[Complaint] = []
    found = load_results(tmp_path, [Wanted("path-failure", ["tlp-mp"], ["docs"])], complaints, COMMAND)
    assert [result.seed for result in found] == [1]
    assert [complaint.where.rpartition("/")[2] for complaint in complaints] == ["seed-002", "seed-003"]
    assert all(words in complaint.what for complaint in complaints)


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff\xfe", b"{}", b'{"format": 99}'])
@pytest.mark.parametrize("file", ["metrics.json", "manifest.json"])
def test_what_can_not_be_read_is_a_complaint(tmp_path: Path, file: str, content: bytes) -> None:
    (seal(tmp_path, "tlp-mp", "docs", 1) / file).write_bytes(content)
    complaints: list[Complaint] = []
    assert load_results(tmp_path, [Wanted("path-failure", ["tlp-mp"], ["docs"])], complaints, COMMAND) == []
    (complaint,) = complaints
    assert complaint.where == str(tmp_path / "path-failure/tlp-mp/docs/seed-001" / file)
    assert complaint.hint


def test_folders_of_format_1_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "path-failure/tlp-mp/docs/seed-001"
    sealed_writer.seal(folder, {"goodput_mbps": 2.5}, number=1)
    (found,) = load(tmp_path, ["tlp-mp"], ["docs"])
    assert (found.value("goodput_mbps"), found.manifest["format"]) == (2.5, 1)


def test_in_progress_folders_are_not_results(tmp_path: Path) -> None:
    seal(tmp_path, "tlp-mp", "docs", 1)
    (tmp_path / "path-failure/tlp-mp/docs/.seed-002.in-progress").mkdir()
    assert len(load(tmp_path, ["tlp-mp"], ["docs"])) == 1


def test_nothing_run_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(Complaints, match="make scenario=path-failure variant=tlp-mp traffic=docs"):
        load(tmp_path, ["tlp-mp"], ["docs"])


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


def test_a_key_that_older_metrics_lack_is_not_one_without_a_value() -> None:
    def result(**metrics: object) -> TrialResult:
        return TrialResult("s", "v", "t", 1, metrics)

    event = {"event": 0, "recovery_ms": 3.5, "lost_packets": 2}
    assert result(reinjection_rate=None).lacks("reinjection_rate") is False
    assert result().lacks("reinjection_rate") is True
    assert result(loss_events=[event]).lacks("recovery_ms") is False
    assert result(loss_events=[event]).lacks("removal_after_ms") is True
    assert result(loss_events=[]).lacks("recovery_ms") is False
    assert result().lacks("recovery_ms") is True
    assert result(loss_events=[event]).values("recovery_ms") == {(1, 0): 3.5}
