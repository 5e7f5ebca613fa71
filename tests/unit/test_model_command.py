# SPDX-License-Identifier: Apache-2.0
"""The command that a hint gives is the one to type, and makes the results that were asked for."""

import shlex

import pytest

from pathwarp.base.complaints import Complaint
from pathwarp.commands.options import read_selection
from pathwarp.model.command import make_command
from pathwarp.model.overrides import label, read_overrides


@pytest.mark.parametrize(
    ("texts", "backend", "command"),
    [
        ([], "uml", "make scenario=cut variant=a,b traffic=docs"),
        ([], "vm", "make scenario=cut variant=a,b traffic=docs backend=vm"),
        (["duration=9 s"], "uml", "make scenario=cut variant=a,b traffic=docs 'set=duration=9 s'"),
        (["time=real", "runs=3"], "uml", "make scenario=cut variant=a,b traffic=docs set=runs=3,time=real"),
        (
            ["events.0.loss={rate: 1 %, model: 'a,b'}"],
            "uml",
            "make scenario=cut variant=a,b traffic=docs "
            """'set=events.0.loss={rate: 1 %, model: '"'"'a,b'"'"'}'""",
        ),
    ],
)
def test_the_command_makes_the_same_results(texts: list[str], backend: str, command: str) -> None:
    complaints: list[Complaint] = []
    overrides = read_overrides(texts, complaints)
    assert make_command("cut", ["a", "b"], ["docs"], overrides, backend) == command
    words = dict(word.split("=", 1) for word in shlex.split(command)[1:])
    chosen = {name: words.get(name, "") for name in ("scenario", "variant", "traffic", "time")}
    selection = read_selection(complaints, **chosen, set=[words.get("set", "")], at="", yes=False)
    assert complaints == []
    given = words.get("backend", "uml")
    # A folder's name is shortened, with a hash, where a setting is long or unsafe; the command isn't.
    assert label("cut", selection["overrides"], given) == label("cut", overrides, backend)
    assert (selection["variants"], selection["traffic"]) == (("a", "b"), ("docs",))
