# SPDX-License-Identifier: Apache-2.0
"""What a run folder says about its trial besides packets: the plan, what the guest did, the kernel's counters."""

import ipaddress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pathwarp.base.broken import broken
from pathwarp.base.formats import check_format
from pathwarp.base.jsonfile import read_mapping

# The formats of `logs/plan.json` that measuring understands.
PLAN_FORMATS = (1, 2, 3)

# Plans of format 1 say of an event only which `action` it was. Of failures: whether they are heard, as in Failure.
_FAILURES_1 = {"blackhole": False, "interface-down": False, "address-removed": True}
# The receiver's kernel learns that the address is gone: a part of the failure, not its end.
_WITHIN_1 = ("removal-announced",)


@dataclass(frozen=True)
class Failure:
    """A path that fails at `at_ns` and, unless `until_ns` is None, works again from then on (epoch ns).

    `heard`: packets that still arrive at the receiver's interface do not count as delivered.
    """

    path: str
    at_ns: int
    until_ns: int | None
    heard: bool


@dataclass(frozen=True)
class Inputs:
    """A run folder with its `logs/plan.json` and `logs/guest.json`."""

    folder: Path
    plan: dict
    guest: dict

    @property
    def paths(self) -> list[str]:
        return self.plan["paths"]

    @property
    def ends(self) -> tuple[str, str]:
        """Sender and receiver of the data."""
        return self.plan["sender"], self.plan["receiver"]

    @property
    def flow_start_ns(self) -> int:
        """The instant that the bursts' start times count from."""
        return int(self.guest["flow_start_ns"])

    def address(self, host: str, path: str) -> int:
        """The IPv4 address of a host's interface as a number."""
        return int(ipaddress.IPv4Address(self.plan["addresses"][host][path]))

    def interface(self, host: str, path: str) -> str:
        """What a host calls its interface on a path; several paths may have the same one."""
        # Up to format 2 each path had its own, of its name.
        return self.plan["interfaces"][host][path] if "interfaces" in self.plan else path

    def capture(self, host: str, path: str) -> Path:
        return self.folder / "captures" / f"{host}-{self.interface(host, path)}.pcap"

    def captured(self, host: str) -> dict[str, list[str]]:
        """The host's interfaces on paths, each with its paths, in the order of these."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            found.setdefault(self.interface(host, path), []).append(path)
        return found

    @cached_property
    def pairs(self) -> dict[tuple[int, int], str]:
        """The addresses of sender and receiver to the path between them."""
        sender, receiver = self.ends
        return {(self.address(sender, path), self.address(receiver, path)): path for path in self.paths}

    @cached_property
    def failures(self) -> list[Failure]:
        """The path failures in the order in which the guest caused them; the path's next end is that of a failure."""
        events = [_of_now(event) for event in self.guest.get("events", [])]
        events = sorted((event for event in events if "path_is" in event), key=lambda event: event["at_ns"])
        found = []
        for place, event in enumerate(events):
            if event["path_is"] == "down":
                until_ns = next((e["at_ns"] for e in events[place + 1 :] if e["path"] == event["path"]), None)
                found.append(Failure(event["path"], event["at_ns"], until_ns, event["heard"]))
        return found


def _of_now(event: dict) -> dict:
    """An event that the guest reports, as guests do today; those of format 1 have an `action`."""
    action = event.get("action")
    if action is None or action in _WITHIN_1:
        return event
    # Whatever else happened to a path that was down was the end of that.
    down = {"path_is": "down", "heard": _FAILURES_1.get(action)}
    return {**event, **(down if action in _FAILURES_1 else {"path_is": "up"})}


def read_json(path: Path) -> dict:
    """Return the object in a JSON file; raises Complaints that name the file when it is missing or malformed."""
    try:
        return read_mapping(path)
    except OSError as error:
        raise broken(path, error.strerror or "cannot be read") from error
    except ValueError as error:
        raise broken(path, str(error)) from error


def read_inputs(folder: Path) -> Inputs:
    """Read what the trial was meant to do and what the guest did."""
    plan = read_json(folder / "logs/plan.json")
    hint = "another version of pathwarp ran the trial: measure it with that one, or run it again"
    check_format(plan, PLAN_FORMATS, folder / "logs/plan.json", hint)
    return Inputs(folder, plan, read_json(folder / "logs/guest.json"))


def counter_changes(folder: Path) -> dict[str, dict[str, int]]:
    """Return by how much each counter of each host grew in the trial: {host: {group + name: change}}."""
    before, after = (read_json(folder / f"logs/counters-{when}.json") for when in ("before", "after"))
    return {
        host: {
            group + name: value - before.get(host, {}).get(group, {}).get(name, 0)
            for group, counters in groups.items()
            for name, value in counters.items()
        }
        for host, groups in after.items()
    }
