# SPDX-License-Identifier: Apache-2.0
"""The plan's load: the flows beside the one that the trial's metrics are about."""

import importlib
from pathlib import Path

from network import Network


class Load:
    """All load flows, each by its application; their receivers listen from construction on."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.flows = [
            importlib.import_module(f"apps.{flow['application']}").Application(network, flow, folder)
            for flow in network.plan["load"]
        ]
        for flow in self.flows:
            flow.await_ready()

    def send(self) -> None:
        """Have all senders started; each waits until its own start."""
        for flow in self.flows:
            flow.send()

    def stop(self) -> None:
        """End all that still run."""
        for flow in self.flows:
            flow.stop()
