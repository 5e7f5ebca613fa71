# SPDX-License-Identifier: Apache-2.0
"""tcpdump on each interface of each host."""

import re
import signal
import subprocess
import time
from pathlib import Path

from namespaces import inside
from network import Network

# The kernel hands packets to tcpdump in blocks, a block that isn't full after a second (libpcap's timeout of tcpdump).
_RETIRE_S = 2


class Captures:
    """Captures that run from construction to `stop`, as `HOST-INTERFACE.pcap` in a folder."""

    def __init__(self, network: Network, folder: Path, snap_bytes: int) -> None:
        self._processes: dict[str, subprocess.Popen] = {}
        for place in network.setup["captures"]:
            name = f"{place['host']}-{place['interface']}"
            command = ["tcpdump", "-i", place["interface"], "-s", str(snap_bytes), "-n", "-Z", "root"]
            command += ["--time-stamp-precision=nano", "-w", str(folder / f"{name}.pcap"), "ip"]
            with inside(network.hosts[place["host"]].pid):
                self._processes[name] = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for name, process in self._processes.items():
            line = process.stderr.readline()
            while "listening on" not in line:
                if not line:
                    raise RuntimeError(f"tcpdump of {name} did not start")
                line = process.stderr.readline()

    def stop(self) -> dict[str, dict[str, int]]:
        """Stop all captures; the packets that each one captured and that the kernel dropped."""
        counts = {}
        time.sleep(_RETIRE_S)
        for process in self._processes.values():
            process.send_signal(signal.SIGINT)
        for name, process in self._processes.items():
            _, text = process.communicate()
            captured, dropped = (
                re.search(rf"(\d+) packets? {what}", text) for what in ("captured", "dropped by kernel")
            )
            if captured is None or dropped is None:
                raise RuntimeError(f"tcpdump of {name} ended early, status {process.returncode}: {text.strip()}")
            counts[name] = {"captured": int(captured[1]), "dropped": int(dropped[1])}
        return counts
