# SPDX-License-Identifier: Apache-2.0
"""Loading data files: what is right is taken; whatever else there is in a file, nothing but Complaints comes out."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from golden_project import DATA_FILES, copy_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.base.yamlfile import LEVEL_LIMIT, SIZE_LIMIT_BYTES, Loader, parse
from pathwarp.model.catalogue import FILE_KINDS, SCENARIO, TOPOLOGY, VARIANT, WORKLOAD, Catalogue
from pathwarp.model.load import load_experiment, load_variant, load_variants
from pathwarp.model.overrides import Override, apply, label, read_overrides

ROOT = Path(__file__).parents[2]
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


def load(project, **wanted):
    return load_experiment(Catalogue(project), "cut", **wanted)


def complaints_of(function, *arguments, **named):
    with pytest.raises(Complaints) as caught:
        function(*arguments, **named)
    return caught.value.complaints


def overrides_of(*texts):
    complaints: list[Complaint] = []
    read = read_overrides(texts, complaints)
    assert not complaints
    return read


def test_defaults_are_those_of_the_scenario(project):
    experiment = load(project)
    assert list(experiment.variants) == ["plain", "better"]
    assert list(experiment.workloads) == ["pings"]
    assert experiment.variants["better"].chain == ("plain", "better")
    assert experiment.scenario.events[0].at_ns == 4_000_000_000


def test_all_and_repeated_names(project):
    assert list(load(project, variants=("all",)).variants) == ["better", "plain"]
    assert list(load(project, variants=("better", "all")).variants) == ["better", "plain"]
    assert list(load(project, traffic=("all",)).workloads) == ["pings"]
    assert [variant.name for variant in load_variants(Catalogue(project), ("all",))] == ["better", "plain"]


def test_the_data_files_of_the_project_are_right():
    catalogue = Catalogue(ROOT)
    complaints: list[Complaint] = []
    assert {"tcp", "mainline", "rto", "tlp-std", "tlp-mp", "pto"} <= set(catalogue.titles(VARIANT, complaints))
    for scenario in catalogue.names(SCENARIO):
        assert load_experiment(catalogue, scenario, ("all",), ("all",)).scenario.name == scenario
    assert load_variant(catalogue, "tlp-mp").chain == ("rto", "tlp-std", "tlp-mp")
    assert load_variant(catalogue, "pto").sysctls == {
        "net.ipv4.tcp_early_retrans": "3",
        "net.mptcp.stale_loss_cnt": "0",
    }
    assert load_variant(catalogue, "tcp").transport == "tcp"
    assert not complaints


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../scenarios/cut", "/etc/passwd", "a/b", "cut.yaml", "CUT", "-cut", "cut\n", "*", "c" * 41]
)
def test_a_name_never_leaves_its_folder(project, name):
    (project / "outside.yaml").write_text((project / "scenarios/cut.yaml").read_text())
    for kind in FILE_KINDS:
        complaint = Catalogue(project).complaint(kind, name, kind.option)
        assert complaint is not None
        assert ", ".join(Catalogue(project).names(kind)) in complaint.valid


def test_an_empty_project_says_what_is_missing(tmp_path):
    sysctls, scenario = complaints_of(load_experiment, Catalogue(tmp_path), "cut")
    assert sysctls.where == "vms/sysctls.yaml"
    assert scenario.valid == "none: there is no scenarios/*.yaml"


@pytest.mark.parametrize(("kind", "file"), [(SCENARIO, "scenarios/cut.yaml"), (TOPOLOGY, "topologies/two-paths.yaml")])
def test_a_folder_in_place_of_a_file(project, kind, file):
    (project / file).unlink()
    (project / file).mkdir()
    (complaint,) = complaints_of(load, project)
    assert (complaint.where, complaint.what) == (file, "is not a file")


def test_a_file_that_is_too_large(project):
    (project / "scenarios/cut.yaml").write_text("# " + "x" * SIZE_LIMIT_BYTES)
    (complaint,) = complaints_of(load, project)
    assert complaint.what == f"is longer than {SIZE_LIMIT_BYTES} characters"


@pytest.mark.parametrize("text", ["a: " + "[" * 500, "a: " + "{a: " * 900, "a: " + "[" * 30 + "]" * 30])
def test_a_file_that_is_nested_too_deep(text):
    complaints_of(parse, text, "deep.yaml")


def test_what_follows_too_many_brackets_is_not_looked_at(monkeypatch):
    # For each token PyYAML goes through all brackets that are open.
    steps = []
    looks = Loader.fetch_more_tokens
    monkeypatch.setattr(Loader, "fetch_more_tokens", lambda self: (steps.append(self.flow_level), looks(self)))
    (complaint,) = complaints_of(parse, "a: " + "[" * 900 + "x, " * 30_000, "deep.yaml")
    assert complaint.what == "is nested too deep"
    assert max(steps) == LEVEL_LIMIT
    assert len(steps) < 1_000


def test_plain_words_mean_what_they_say():
    text = (
        "{a: yes, b: no, c: 010, d: 1_000, e: 2019-01-01, f: 1:30, g: 0x10, h: .5, i: 1e3, j: 1.5, k: ~, l: true, 3: x}"
    )
    assert parse(text, "words.yaml").data == {
        "a": "yes",
        "b": "no",
        "c": 10,
        "d": "1_000",
        "e": "2019-01-01",
        "f": "1:30",
        "g": "0x10",
        "h": ".5",
        "i": "1e3",
        "j": 1.5,
        "k": None,
        "l": True,
        "3": "x",
    }


def mutated_text(text: str):
    """`text` with some slices cut out, doubled or replaced."""
    piece = st.one_of(
        st.sampled_from(["", "\t", ": ", "- ", "[", "}", "'", '"', "#", "&a ", "*a", "!!", "\n", "~", "-1"]),
        st.text(max_size=5),
    )
    edit = st.tuples(st.integers(0, len(text)), st.integers(0, 20), piece)

    def change(edits):
        changed = text
        for start, length, insert in edits:
            changed = changed[:start] + insert + changed[start + length :]
        return changed

    return st.lists(edit, min_size=1, max_size=4).map(change)


ANY_VALUE = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(
            ["", "1 s", "-1 s", "5 packets", "plain", "better", "cut", "near", "all", "1 %", "../x", "blackhole"]
        ),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=5,
)


def places(data, place=()):
    """All places in nested mappings and lists."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from places(inner, (*place, key))


def loads_or_complaints(project, file, text):
    original = (project / file).read_bytes()
    try:
        (project / file).write_text(text, encoding="utf-8", errors="surrogatepass")
        load(project)
    except Complaints as complaints:
        assert complaints.complaints
        assert "Traceback" not in str(complaints)
    finally:
        (project / file).write_bytes(original)


@pytest.mark.parametrize("file", DATA_FILES)
def test_any_text_loads_or_is_refused(project, file):
    @SLOW
    @given(mutated_text((project / file).read_text()))
    def check(text):
        loads_or_complaints(project, file, text)

    check()


@pytest.mark.parametrize("file", DATA_FILES)
def test_any_value_anywhere_loads_or_is_refused(project, file):
    original = yaml.safe_load((project / file).read_text())

    @SLOW
    @given(st.sampled_from(list(places(original))), ANY_VALUE)
    def check(place, value):
        data = yaml.safe_load((project / file).read_text())
        target = data
        for step in place[:-1]:
            target = target[step]
        target[place[-1]] = value
        loads_or_complaints(project, file, yaml.safe_dump(data, allow_unicode=True))

    check()


def test_overrides_change_the_scenario(project):
    chosen = overrides_of("events.0.fail=interface-down, events.0.until=6 s", "sysctls.net.ipv4.tcp_sack=0")
    scenario = load(project, overrides=chosen).scenario
    assert scenario.events[0].fail == "interface-down"
    assert scenario.events[0].until_ns == 6_000_000_000
    assert scenario.sysctls == {"net.ipv4.tcp_sack": "0"}
    changed = overrides_of(
        "events=[{at: 1 s, path: far, change: {loss: {mean: 2 %, burst: 3 packets}, rate: 1 Mbit/s}}]"
    )
    assert load(project, overrides=changed).scenario.events[0].change.loss.burst_packets == 3


def test_overrides_change_topology_and_workload(project):
    chosen = overrides_of("topology.paths.near.down.loss=1 %,topology.paths.near.mtu=1400 B,workload.packet=700 B")
    changed = load(project, overrides=chosen)
    assert changed.topology.paths["near"].down.loss.mean_fraction == 0.01
    assert changed.topology.paths["near"].mtu_bytes == 1400
    assert changed.scenario == load(project).scenario
    assert {workload.packet_bytes for workload in changed.workloads.values()} == {700}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("topology.paths.nearby.mtu=1400 B", "set=topology.paths.nearby.mtu=1400 B: there is no 'nearby'"),
        ("topology.paths.near.mtu=1 B", "as set: paths.near.mtu: '1 B' is out of range"),
        ("topology.colour=red", "as set: colour: is not a key here"),
        ("workload.size.max=9 B", "set=workload.size.max=9 B: would change nothing"),
    ],
)
def test_overrides_of_other_files_are_checked_like_the_files(project, text, words):
    with pytest.raises(Complaints) as caught:
        load(project, overrides=overrides_of(text))
    assert words in str(caught.value)


def test_overrides_are_sorted_and_may_hold_commas():
    assert overrides_of("b=[1, 2],a='x,y'", "c={d: e, f: g}") == (
        Override("a", "'x,y'"),
        Override("b", "[1, 2]"),
        Override("c", "{d: e, f: g}"),
    )
    assert overrides_of("", ",", "a=1,a=1") == (Override("a", "1"),)


@SLOW
@given(st.one_of(st.text(max_size=40), st.from_regex(r"(events|runs|sysctls|name)(\.[0-9a-z]{1,8}){0,3}=.{0,10}")))
def test_any_override_is_taken_or_refused(text):
    complaints: list[Complaint] = []
    file = parse("{name: cut, runs: 3, events: [{at: 4 s}]}", "cut.yaml")
    chosen = read_overrides([text], complaints)
    try:
        apply(chosen, file)
    except Complaints as found:
        assert found.complaints
    assert "/" not in label("cut", chosen)
    assert len(label("cut", chosen)) <= 120


def test_labels_are_safe_and_differ_where_overrides_do():
    assert label("cut", ()) == "cut"
    assert label("cut", (), "vm") == "cut+backend=vm"
    assert label("cut", overrides_of("events.0.fail=interface-down")) == "cut+events.0.fail=interface-down"
    odd = [
        label("cut", overrides_of(text)) for text in ("a=1 s", "a=1/s", "a=1  s", "a=../1-s", f"a={'x' * 200}", "a=1-s")
    ]
    assert len(set(odd)) == len(odd)
    assert odd[0].startswith("cut+a=1-s~")
    assert odd[-1] == "cut+a=1-s"
    assert all(len(text) <= 120 and "/" not in text and " " not in text for text in odd)


def test_missing_traces_are_one_complaint(project):
    shutil.rmtree(project / "traffic/traces")
    (complaint,) = complaints_of(load, project)
    assert complaint.what == "3 of the 3 traces are missing: 01.csv, 02.csv, 03.csv"
    assert "traffic generate pings" in complaint.hint


def test_the_catalogue_imports_nothing_heavy():
    code = (
        "import sys, pathwarp.cli; pathwarp.cli.main(['list']); "
        "print(sorted({'pydantic', 'numpy', 'scipy', 'matplotlib', 'ansible', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "traffic:\n" in done.stdout


def test_titles_of_files_that_are_right_come_despite_others(project):
    (project / "traffic/other.yaml").write_text("title: [")
    complaints: list[Complaint] = []
    assert Catalogue(project).titles(WORKLOAD, complaints) == {"pings": "one packet once a second"}
    assert [complaint.where for complaint in complaints] == ["traffic/other.yaml:1:9"]
