# SPDX-License-Identifier: Apache-2.0
"""The command group `traffic`: generate, import and show traces."""

from collections.abc import Iterable
from pathlib import Path

import click

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.base.units import parse_duration_s
from pathwarp.model.catalogue import NAME_RULE, WORKLOAD, Catalogue, is_name
from pathwarp.model.load import load_workload, trace_path
from pathwarp.model.schema.workload import MOST_TRACES, BurstWorkload, ConstantWorkload, Workload
from pathwarp.model.traces import Trace, read_csv, write_csv

SHORTEST_GAP_S = 0.001


@click.group("traffic")
def command() -> None:
    """Generate, import and show the traces of application traffic."""


@command.command()
@click.argument("name", metavar="NAME|all")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write NAME/NN.csv to.  [default: traffic/traces]"
)
@click.pass_obj
def generate(catalogue: Catalogue, name: str, out: Path | None) -> None:
    """Write the traces of the workload NAME, or of all that are generated; the same bytes each time."""
    from pathwarp.generate.traffic.generate import generate as draw

    workloads = _load(catalogue, catalogue.names(WORKLOAD) if name == "all" else [name])
    chosen = [workload for workload in workloads if isinstance(workload, BurstWorkload) and workload.generated]
    if name != "all" and not chosen:
        raise Complaints.one(
            f"traffic/{name}.yaml", "has recorded traces or none, nothing to generate", "traces.seed, gap and size"
        )
    for workload in chosen:
        for number in range(1, workload.traces.count + 1):
            path = trace_path(catalogue, workload.name, number)
            path = out / workload.name / path.name if out else path
            write_csv(path, draw(workload, number))
        click.echo(f"{path.parent}: {workload.traces.count} traces")


@command.command(name="import")
@click.argument("capture", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="Workload that the trace is for.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="File to write.  [default: the next traffic/traces/NAME/NN.csv]"
)
@click.option("--gap", default="50ms", show_default=True, help="A pause of the server this long ends a burst.")
@click.option("--server", default="", help="Address of the server.  [default: the one that sends the most payload]")
@click.pass_obj
def import_(catalogue: Catalogue, capture: Path, name: str, out: Path | None, gap: str, server: str) -> None:
    """Make a trace of the workload NAME from CAPTURE, a pcap file of real traffic."""
    complaints: list[Complaint] = []
    gap_s = 0.0
    try:
        gap_s = parse_duration_s(gap)
        if gap_s < SHORTEST_GAP_S:
            complaints.append(Complaint("--gap", f"{gap!r} is too short", "1 ms or more"))
    except ValueError as error:
        complaints.append(Complaint("--gap", f"{gap!r} {error}"))
    if not is_name(name):
        complaints.append(Complaint("--name", f"{name!r} is not a name", NAME_RULE))
    if complaints:
        raise Complaints(complaints)
    # numpy comes with this command and `generate` only.
    from pathwarp.generate.traffic.importer import import_capture

    trace = import_capture(capture, gap_s, server)
    path = out or _next_free(catalogue, name)
    write_csv(path, trace)
    seconds = trace.bursts[-1].start_ms / 1000
    click.echo(f"{path}: {len(trace.bursts)} bursts, {trace.size_bytes} bytes, the last starts at {seconds:.3f} s")


@command.command()
@click.argument("name")
@click.pass_obj
def show(catalogue: Catalogue, name: str) -> None:
    """Print what the workload NAME is, and what its traces amount to."""
    from pathwarp.generate.traffic.summary import rows, table

    (workload,) = _load(catalogue, [name])
    click.echo(f"{workload.name}: {workload.title}")
    click.echo(f"source: {workload.source}")
    if not workload.traces and not isinstance(workload, ConstantWorkload):
        click.echo(f"{workload.kind}, in packets of {workload.packet_bytes} B: load, which D-ITG draws while it runs")
        return
    if isinstance(workload, ConstantWorkload):
        rate = workload.packets_s
        bits = float(rate * workload.packet_bytes * 8 / 1_000_000)
        click.echo(f"{float(rate):g} packets of {workload.packet_bytes} B a second, {bits:g} Mbit/s of payload")
        return
    seconds = workload.traces.duration_ns / 1e9
    traces = read_traces(catalogue, workload)
    click.echo(f"{len(traces)} traces of {seconds:g} s, {'generated' if workload.generated else 'recorded'}\n")
    click.echo(table(rows(traces, workload.packet_bytes, seconds)))


def read_traces(catalogue: Catalogue, workload: BurstWorkload) -> list[Trace]:
    """All traces of `workload`; Complaints for all that is wrong with them."""
    complaints: list[Complaint] = []
    traces: list[Trace] = []
    for number in range(1, workload.traces.count + 1):
        with gather(complaints):
            path = trace_path(catalogue, workload.name, number)
            traces.append(read_csv(path, workload.traces.duration_ns / 1e9))
    if complaints:
        raise Complaints(complaints)
    return traces


def _load(catalogue: Catalogue, names: Iterable[str]) -> list[Workload]:
    complaints: list[Complaint] = []
    workloads: list[Workload] = []
    for name in names:
        with gather(complaints):
            workloads.append(load_workload(catalogue, name))
    if complaints:
        raise Complaints(complaints)
    return workloads


def _next_free(catalogue: Catalogue, name: str) -> Path:
    paths = [trace_path(catalogue, name, number) for number in range(1, MOST_TRACES + 1)]
    for path in paths:
        if not path.exists():
            return path
    raise Complaints.one(
        str(paths[0].parent), f"has {MOST_TRACES} traces", hint="remove some, or name a file with --out"
    )
