# SPDX-License-Identifier: Apache-2.0
"""Project folders for faults to be injected into."""

import pytest
from project_folder import Project
from undisturbed import RUN, Undisturbed


@pytest.fixture(scope="session")
def seed(pytestconfig) -> int:
    return pytestconfig.getoption("--fault-seed")


@pytest.fixture
def project(tmp_path, make_project) -> Project:
    return Project(make_project(tmp_path / "project"))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, make_project) -> Undisturbed:
    """A run of several short trials that nothing disturbs."""
    project = Project(make_project(tmp_path_factory.mktemp("undisturbed")))
    return Undisturbed.run(project, RUN)
