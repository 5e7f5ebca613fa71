# SPDX-License-Identifier: Apache-2.0
"""One case of a run of the kernel's own tests: what the test said meanwhile, and the packets of that time."""

from pathlib import Path

from pathwarp.base.atomic import write_whole
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.measure.cases import Run
from pathwarp.wire.pcap import between, read


def show_case(run: Run, number: int, folder: Path) -> tuple[list[str], Path | None]:
    """What the test said during a case, a line each; and the folder, beside the sealed one, where the packets of that
    time are put, where there are captures. Complaints for a case that there is not.
    """
    case, window = run.case(number), run.window(number)
    if window is None:
        what = f"{run.test} seed {run.seed} doesn't say when case {number} was"
        raise Complaints.one("case", what, code=Exit.FAILED)
    begin_s, end_s = window
    said = [f"  {line.at_s:12.6f}  {line.text}" for line in run.output if begin_s <= line.at_s <= end_s]
    lines = [f"case {number}, {case.name}: {begin_s:.3f} to {end_s:.3f} s", *said]
    captures = sorted((folder / "captures").glob("*.pcap"))
    if not captures:
        return lines, None
    place = folder.with_name(f"{folder.name}-case-{number}")
    place.mkdir(exist_ok=True)
    for path in captures:
        packets = between(read(path), *(run.begin_ns + round(at_s * 1e9) for at_s in window))
        write_whole(place / path.name, packets)
    return lines, place
