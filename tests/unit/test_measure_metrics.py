# SPDX-License-Identifier: Apache-2.0
"""From a run folder to metrics.json."""

import pcap_writer as writer
import pytest
from trial_writer import TrialWriter

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.measure.analysis import analyse
from pathwarp.measure.inputs import PLAN_FORMATS
from pathwarp.measure.metrics import measure
from pathwarp.model.metrics import METRICS, OF_EVENTS, OF_TRIALS
from pathwarp.plan import orders

KEYS = {
    "affected_burst",
    "affected_burst_completion_time_ms",
    "burst_completion_time_ms",
    "bytes_sent",
    "counters",
    "delay_increase_ms",
    "format",
    "goodput_mbps",
    "loss_events",
    "loss_position_fraction",
    "max_interarrival_gap_ms",
    "one_way_delay_ms",
    "oversized_packets",
    "packets_after_failure",
    "packets_sent",
    "reinjected_bytes",
    "reinjected_packets",
    "reinjection_rate",
    "retransmissions",
    "spurious_reinjected_bytes",
    "spurious_reinjected_packets",
    "time_to_first_reinjection_ms",
}


@pytest.fixture
def trial(tmp_path):
    """Three bursts of one packet: wlan goes silent at 1500 ms, the second burst is reinjected 424 ms after it left."""
    made = TrialWriter(tmp_path, bursts=[[0.0, 400], [2000.0, 500], [4000.0, 300]])
    made.open("wlan", -500)
    made.open("4g", -400)
    made.send("wlan", 0, 0, 400)
    made.fail("wlan", 1500)
    seq = made.send("wlan", 2000, 400, 500, lost=True)
    made.send("wlan", 2212, 400, 500, seq=seq, lost=True)
    made.send("wlan", 2424, 400, 500, seq=seq, lost=True)
    made.send("4g", 2424, 400, 500)
    made.send("4g", 4000, 900, 300)
    made.log(400, 0, 6)
    made.log(500, 2000, 2464)
    made.log(300, 4000, 4040)
    for when, value in (("before", 3), ("after", 5)):
        made.counters[when] = {"server": {"MPTcpExt": {"Probe": value}, "Tcp": {"RetransSegs": 10 * value}}}
    made.counters["after"]["client"] = {"TcpExt": {"New": 1}}
    return made


def test_path_failure(trial):
    metrics = measure(trial.finish())
    assert set(metrics) == KEYS
    series = metrics["one_way_delay_ms"].pop("series")
    assert series == {"time_s": [0, 2, 4], "delay_ms": [6, 464, 40]}
    assert metrics["one_way_delay_ms"]["quantiles"]["0.5"] == 40
    burst = {"affected": False, "lost_packets": 0, "first_loss_fraction": None}
    assert metrics["burst_completion_time_ms"] == [
        {**burst, "burst": 0, "start_ms": 0, "size_bytes": 400, "completion_time_ms": 6},
        {
            "burst": 1,
            "start_ms": 2000,
            "size_bytes": 500,
            "completion_time_ms": 464,
            "affected": True,
            "lost_packets": 1,
            "first_loss_fraction": 0,
        },
        {**burst, "burst": 2, "start_ms": 4000, "size_bytes": 300, "completion_time_ms": 40},
    ]
    for key in ("one_way_delay_ms", "burst_completion_time_ms"):
        del metrics[key]
    assert metrics == {
        "format": 1,
        "affected_burst": 1,
        "affected_burst_completion_time_ms": 464,
        "loss_position_fraction": 1,
        "delay_increase_ms": 458,
        "max_interarrival_gap_ms": 2458,
        "goodput_mbps": 0.002376,
        "reinjection_rate": 0.166667,
        "reinjected_packets": 1,
        "reinjected_bytes": 500,
        "spurious_reinjected_packets": 0,
        "spurious_reinjected_bytes": 0,
        "time_to_first_reinjection_ms": 924,
        "loss_events": [
            {
                "event": 0,
                "path": "wlan",
                "at_s": 1.5,
                "path_share_fraction": None,
                "lost_packets": 1,
                "delay_increase_ms": 458,
                "max_interarrival_gap_ms": 2458,
                "time_to_first_reinjection_ms": 924,
                "recovery_ms": 964,
                "packets": 6,
                "reinjected_packets": 1,
                "spurious_reinjected_packets": 0,
                "reinjection_rate": 0.166667,
                "removal_after_ms": None,
                "rejoined_after_ms": None,
            }
        ],
        "retransmissions": {"wlan": 2, "4g": 0},
        "packets_sent": {"wlan": 4, "4g": 2},
        "bytes_sent": {"wlan": 1900, "4g": 800},
        "oversized_packets": 0,
        "packets_after_failure": {"wlan": 0},
        "counters": {"server": {"MPTcpExtProbe": 2, "TcpRetransSegs": 20}, "client": {"TcpExtNew": 1}},
    }


def test_plain_tcp(tmp_path):
    trial = TrialWriter(tmp_path, transport="tcp", paths=("wlan",), bursts=[[0.0, 1400], [1000.0, 2800]])
    trial.open("wlan", -100, isn=2**32 - 800)
    trial.send("wlan", 0, 0, 1400)
    trial.send("wlan", 1000, 1400, 1400)
    trial.fail("wlan", 1005)
    seq = trial.send("wlan", 1010, 2800, 1400, lost=True)
    trial.send("wlan", 1222, 2800, 1400, seq=seq, lost=True)
    trial.log(1400, 0, 6)
    trial.log(1400, 1000, 1006)
    metrics = measure(trial.finish())
    assert metrics["affected_burst"] == 1
    assert metrics["affected_burst_completion_time_ms"] is None
    assert metrics["loss_position_fraction"] == 0.5
    assert [burst["completion_time_ms"] for burst in metrics["burst_completion_time_ms"]] == [6, None]
    assert metrics["retransmissions"] == {"wlan": 1}
    assert metrics["packets_after_failure"] == {"wlan": 1}
    assert metrics["reinjected_packets"] == 0
    assert (
        metrics["reinjection_rate"] is metrics["time_to_first_reinjection_ms"] is metrics["delay_increase_ms"] is None
    )


def test_trial_without_a_failure(trial):
    trial.events = []
    metrics = measure(trial.finish())
    assert metrics["affected_burst"] is metrics["loss_position_fraction"] is metrics["delay_increase_ms"] is None
    assert metrics["time_to_first_reinjection_ms"] is None
    assert metrics["packets_after_failure"] == {}
    assert metrics["max_interarrival_gap_ms"] == 2458
    assert metrics["burst_completion_time_ms"][1]["lost_packets"] == 1


def test_failure_that_ends(trial):
    trial.fail("wlan", 1900, phase="end")
    metrics = measure(trial.finish())
    assert metrics["affected_burst"] is None
    trial.put("wlan", 1600, writer.segment(*trial.ends("wlan"), 5))
    trial.put("wlan", 1950, writer.segment(*trial.ends("wlan"), 5))
    assert measure(trial.finish())["packets_after_failure"] == {"wlan": 1}


def test_change_of_a_path_is_no_failure(trial):
    trial.events = []
    trial.fail("4g", 1500, "change")
    assert analyse(trial.finish()).inputs.failures == []


def test_packets_larger_than_the_mtu_are_counted(trial):
    others = ("10.2.0.1", 5000), ("10.2.1.1", 5000)
    trial.put("4g", 3000, writer.segment(*others, 1, payload=1460))
    trial.put("4g", 3000, writer.segment(*others, 1, payload=1461), lost=True)
    assert measure(trial.finish())["oversized_packets"] == 1


def test_same_files_give_the_same_metrics_and_no_file(trial):
    folder = trial.finish()
    assert set(measure(folder)) == KEYS
    assert measure(folder) == measure(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["captures", "logs"]


def test_every_metric_comes_out_of_measuring(trial):
    metrics = measure(trial.finish())
    assert OF_TRIALS and OF_EVENTS
    assert [key for key in OF_TRIALS if key not in metrics] == []
    assert [key for key in OF_EVENTS if key not in metrics["loss_events"][0]] == []
    # What is a number of the trial or of an event, and no metric, tells what the numbers are of, or checks them.
    others = {"format", "affected_burst", "oversized_packets", "event", "at_s"}
    single = {key: value for part in (metrics, metrics["loss_events"][0]) for key, value in part.items()}
    numbers = {key for key, value in single.items() if isinstance(value, int | float)}
    assert numbers - set(METRICS) == others


def test_orders_of_an_unknown_format_are_not_measured(trial):
    trial.plan["format"] = 99
    with pytest.raises(Complaints) as caught:
        measure(trial.finish())
    (complaint,) = caught.value.complaints
    assert complaint.where.endswith("logs/plan.json")
    assert complaint.what == "is of format 99, which is unknown here"
    assert complaint.valid == "format 1, 2 or 3"


def test_the_orders_of_now_are_measured():
    assert orders.FORMAT in PLAN_FORMATS


def test_unusable_captures_are_named(trial):
    folder = trial.finish()
    (folder / "captures/client-4g.pcap").write_bytes(b"")
    with pytest.raises(Complaints, match=r"client-4g\.pcap: is not a packet capture") as error:
        measure(folder)
    assert error.value.code == Exit.FAILED


def test_captures_that_end_too_early_are_named(trial):
    trial.packets["server-4g"].pop()
    trial.packets["client-4g"].pop()
    with pytest.raises(Complaints, match="have 900 bytes of the stream, of which the application read 1200"):
        measure(trial.finish())


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("plan.json", None, r"plan\.json: No such file"),
        ("guest.json", "{", r"guest\.json: is not JSON"),
        ("counters-after.json", "[]", r"counters-after\.json: is not a JSON object"),
    ],
)
def test_unusable_logs_are_named(trial, name, content, what):
    path = trial.finish() / "logs" / name
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(Complaints, match=what):
        measure(trial.folder)
