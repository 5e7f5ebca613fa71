# SPDX-License-Identifier: Apache-2.0
"""The commands of `traffic`, on a project folder of their own."""

import pytest
from click.testing import CliRunner
from test_generate_importer import down, write_pcap
from test_model_workload import GOOD

from pathwarp.base.complaints import Complaints
from pathwarp.commands.traffic import command as traffic
from pathwarp.model.catalogue import Catalogue


@pytest.fixture
def project(tmp_path):
    (tmp_path / "traffic").mkdir()
    (tmp_path / "traffic" / "web.yaml").write_text(GOOD)
    recorded = GOOD.replace("name: web", "name: mine").replace(", seed: 7", "").replace("count: 2", "count: 1")
    (tmp_path / "traffic" / "mine.yaml").write_text(recorded.split("gap:")[0])
    return tmp_path


def call(project, *arguments: str) -> str:
    result = CliRunner().invoke(traffic, arguments, obj=Catalogue(project), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def contents(folder) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.csv")}


def test_generate_twice_gives_the_same_bytes(project):
    call(project, "generate", "web")
    first = contents(project / "traffic" / "traces")
    assert sorted(first) == ["web/01.csv", "web/02.csv"]
    call(project, "generate", "web")
    assert contents(project / "traffic" / "traces") == first
    call(project, "generate", "web", "--out", str(project / "else"))
    assert contents(project / "else") == first


def test_generate_all_leaves_recorded_traces_alone(project):
    assert "mine" not in call(project, "generate", "all")
    assert not (project / "traffic" / "traces" / "mine").exists()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["generate", "mine"], "has recorded traces"),
        (["generate", "wep"], "unknown workload 'wep'"),
        (["generate", "../x"], "cannot be the name"),
        (["show", "web"], "no such trace"),
        (["import", "no.pcap", "--name", "mine"], "no.pcap"),
        (["import", "no.pcap", "--name", "../x", "--gap", "5"], "--gap: '5' has no unit"),
        (["import", "no.pcap", "--name", "../x", "--gap", "5"], "--name: '../x' is not a name"),
        (["import", "no.pcap", "--name", "mine", "--gap", "1us"], "--gap: '1us' is too short"),
    ],
)
def test_complaints(project, arguments, what):
    before = contents(project)
    with pytest.raises(Complaints) as caught:
        call(project, *arguments)
    assert what in str(caught.value)
    assert contents(project) == before


def test_imported_trace_is_the_next_of_its_workload(project):
    capture = write_pcap(project / "a.pcap", [(0.0, down(1, 500)), (60.0, down(501, 700))])
    assert "01.csv: 2 bursts, 1200 bytes" in call(project, "import", str(capture), "--name", "mine")
    call(project, "import", str(capture), "--name", "mine", "--gap", "100ms")
    assert contents(project / "traffic" / "traces") == {
        "mine/01.csv": b"start_ms,size_bytes\n0.000,500\n60.000,700\n",
        "mine/02.csv": b"start_ms,size_bytes\n0.000,1200\n",
    }
    shown = call(project, "show", "mine")
    assert "1 traces of 10 s, recorded" in shown and "burst size, kB" in shown


def test_import_to_a_file(project):
    capture = write_pcap(project / "a.pcap", [(0.0, down(1, 500))])
    call(project, "import", str(capture), "--name", "mine", "--out", str(project / "x.csv"))
    assert sorted(contents(project)) == ["x.csv"]


def test_show_gives_figures(project):
    call(project, "generate", "web")
    lines = call(project, "show", "web").splitlines()
    assert lines[0] == "web: A page now and then"
    assert any(line.startswith("burst size, kB") and line.split()[3:] == ["20.00"] * 6 for line in lines)
