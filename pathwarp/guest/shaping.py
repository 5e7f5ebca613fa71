# SPDX-License-Identifier: Apache-2.0
"""Links as netem queues on middle nodes."""


def _loss(loss: dict | None) -> str:
    if loss is None:
        return ""
    if loss["kind"] == "random":
        return f" loss random {100 * loss['fraction']:.6f}%"
    return f" loss gemodel {100 * loss['p']:.6f}% {100 * loss['r']:.6f}%"


def netem_line(interface: str, shape: dict) -> str:
    """The `tc` line for one direction: rate in bit/s, delay in ns, limit in packets (tc-netem(8)).

    netem's rate charges every packet its length over the rate, so each packet has its serialisation time.
    """
    return (
        f"qdisc replace dev {interface} root handle 1: netem limit {shape['limit_packets']}"
        f" rate {shape['rate_bit_s']}bit delay {shape['delay_ns'] / 1000:.3f}us{_loss(shape['loss'])}"
    )


def show_line(line: str) -> str:
    """The `tc` line that shows what a line of netem_line has set."""
    return f"qdisc show {' '.join(line.split()[2:4])}"


def blackhole_line(interface: str) -> str:
    """The `tc` line that swallows all packets from now on, those waiting in the queue included (sch_blackhole)."""
    return f"qdisc replace dev {interface} root handle 2: blackhole"
