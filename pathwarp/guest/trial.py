# SPDX-License-Identifier: Apache-2.0
"""One trial in the guest, whatever it runs on.

It reads its orders from `plan.json` in the run folder and leaves its raw files there; `guest.json` says how it went.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import kernel

RUN = Path("/run/pathwarp")
# The formats of the orders that it understands.
_FORMATS = (3,)
_SNAP_BYTES = 128
# What the last bursts get to arrive after the trial's duration.
_DRAIN_S = 10
# What a trial may take, by the guest's clock, on top of its duration: setting up and tearing down take seconds.
_SPARE_S = 300


class Void(Exception):
    """The trial can't stand for what was asked, for the reason given."""


class Overdue(Exception):
    """The trial goes on although it should be over, by the guest's clock."""


def watch_clock(limit_s: float) -> None:
    """Raise Overdue in whatever the main program does in so many seconds of the guest's clock."""

    def bark(number: int, frame: object) -> None:
        raise Overdue(f"not done after {limit_s:g} s of the guest's clock")

    signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, limit_s)


def check_format(plan: dict) -> None:
    """Refuse orders of which it doesn't know what they mean."""
    if plan.get("format") not in _FORMATS:
        raise Void(f"the orders are of format {plan.get('format')}, the guest knows {', '.join(map(str, _FORMATS))}")


def check_kernel(plan: dict) -> None:
    """Refuse a kernel other than the one that was built for the trial's variant."""
    running = os.uname().release
    if running != plan["release"]:
        raise Void(f"the guest runs {running}, not {plan['release']}")


def check_subflows(plan: dict, seen: list[str], event: dict) -> None:
    """Refuse a trial without a subflow where the event expects one (plain TCP: a connection on the preferred path)."""
    wanted = plan["paths"] if plan["transport"] == "mptcp" else [plan["preferred_path"]]
    when = f"before the {event['kind']} at {event['at_s']:g} s"
    missing = [path for path in wanted if path in event["expect"] and path not in seen]
    if missing:
        raise Void(f"no subflow on {', '.join(missing)} {when}")
    several = sorted({path for path in seen if seen.count(path) > 1})
    if several:
        raise Void(f"more than one subflow on {', '.join(several)} {when}")


def check_sysctls(plan: dict, report: dict) -> None:
    """Refuse a trial whose hosts don't hold the sysctls of the plan."""
    for host, values in report["sysctls"].items():
        for name, wanted in plan["sysctls"].items():
            if values[name] != str(wanted):
                raise Void(f"{host}: {name} is {values[name]}, not {wanted}")


def check_losses(plan: dict, met: list[dict]) -> None:
    """Refuse a trial in which a packet that was to be lost was not there."""
    for number, (target, counts) in enumerate(zip(plan["losses"], met, strict=True)):
        if not counts["lost"]:
            where = f"on {target['path']}" if target["path"] else "on any path"
            which = f"number {target['number']}" if "number" in target else f"byte {target['byte']}"
            what = f"no {target['what']} packet of {which} {where} was lost: {counts['seen']} came by"
            raise Void(f"losses.{number}: {what}")


def perform(plan: dict, report: dict) -> None:
    """Set up, run the flow and the events, tear down; what was seen goes into the report as it becomes known."""
    import counters
    import events
    import mptcp
    from capture import Captures
    from flow import Flow
    from losses import Losses
    from namespaces import inside
    from network import Network

    network = Network(plan)
    losses = Losses(network) if "losses" in plan else None
    report["qdiscs"] = network.qdiscs
    report["sysctls"] = {}
    for host, node in network.hosts.items():
        with inside(node.pid):
            report["sysctls"][host] = {name: kernel.read_sysctl(name) for name in plan["sysctls"]}
    check_sysctls(plan, report)
    logs = RUN / "logs"
    captures = Captures(network, RUN / "captures", _SNAP_BYTES)
    (logs / "counters-before.json").write_text(json.dumps(counters.read(network), sort_keys=True))
    load = None
    if "load" in plan:
        # What a trial imports moves its clock: one without load begins as if there were none.
        from load import Load

        load = Load(network, logs)
    flow = Flow(network, logs)
    zero_ns = report["flow_start_ns"] = flow.start()
    if load:
        load.send()
    report["subflows"] = []

    def look(event: dict) -> None:
        """See that the subflows are there again before each failure; keep the kernel's view before the first."""
        connections = mptcp.connections(network, report.get("connections", []))
        report.setdefault("connections", connections)
        seen = [connection["path"] for connection in connections]
        report["subflows"].append({"before_s": event["at_s"], "paths": sorted(seen)})
        check_subflows(plan, seen, event)

    report["events"] = events.run(network, zero_ns, look)
    events.sleep_until(zero_ns + round(plan["duration_s"] * 1e9))
    flow.finish(_DRAIN_S)
    if load:
        load.stop()
    network.check_alive()
    report["captures"] = captures.stop()
    (logs / "counters-after.json").write_text(json.dumps(counters.read(network), sort_keys=True))
    dropped = [name for name, counts in report["captures"].items() if counts["dropped"]]
    if dropped:
        raise Void(f"the captures {', '.join(dropped)} miss packets")
    if losses:
        report["losses"] = losses.report()
        check_losses(plan, report["losses"])


def conduct(begin: Callable[[], None]) -> None:
    """Run the trial, after `begin`, and leave `guest.json` behind, whatever happens."""
    os.environ.update(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME="/root", LC_ALL="C.UTF-8", TMPDIR="/tmp")
    report: dict = {"status": "failed", "release": os.uname().release}
    try:
        begin()
        kernel.sharpen_timers()
        plan = json.loads((RUN / "logs" / "plan.json").read_text())
        check_format(plan)
        check_kernel(plan)
        watch_clock(plan["duration_s"] + _SPARE_S)
        perform(plan, report)
        report["status"] = "done"
    except Void as reason:
        report.update(status="void", reason=str(reason))
    except BaseException as error:  # noqa: BLE001, the guest has nobody else to tell
        report["reason"] = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        (RUN / "logs" / "guest.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
        sys.stdout.flush()
