# SPDX-License-Identifier: Apache-2.0
"""yamllint's judgement of every YAML file, ansible-lint's of the playbooks."""

import sys

from tools import assert_content, judge, own_files, plant

YAML = (sys.executable, "-m", "yamllint", "--strict", "--format=parsable")
ANSIBLE = (sys.executable, "-m", "ansiblelint", "--offline", "--nocolor", "--format=pep8")
PLAYBOOK = """\
# SPDX-License-Identifier: Apache-2.0
- name: Plant a fault.
  hosts: localhost
  tasks:
    - name: Say it with a shell.
      ansible.builtin.shell: echo x
"""


def test_yamllint_is_content():
    files = [file for file in own_files() if file.suffix in (".yaml", ".yml") or file.name == ".yamllint"]
    assert len(files) > 30
    assert_content([*YAML, *files])


def test_yamllint_finds_what_is_planted(tmp_path):
    plant(tmp_path, {"x.yaml": "a: 1\na: 2\n", "tests/golden/complaints/x.yaml": "a: [\n"}, settings=(".yamllint",))
    status, said = judge([*YAML, "x.yaml"], tmp_path)
    assert (status, "x.yaml:2:1: [error] duplication of key" in said) == (1, True), said
    assert judge([*YAML, "tests/golden/complaints/x.yaml"], tmp_path) == (0, "")


def test_ansible_lint_is_content():
    assert_content([*ANSIBLE, "playbooks"])


def test_ansible_lint_finds_what_is_planted(tmp_path):
    plant(tmp_path, {"playbooks/x.yml": PLAYBOOK}, settings=(".ansible-lint", ".yamllint"))
    status, said = judge([*ANSIBLE, "playbooks/x.yml"], tmp_path)
    assert status == 2, said
    assert {"command-instead-of-shell", "no-changed-when"} <= set(said.replace(":", " ").split()), said
