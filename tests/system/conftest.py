# SPDX-License-Identifier: Apache-2.0
"""The command as its user calls it, in a project folder of the test's own."""

import pytest
from project_folder import Project


@pytest.fixture(scope="session")
def flooded(tmp_path_factory, make_project) -> Project:
    """A project with a sealed trial of each variant that saturates both paths, which lose packets."""
    project = Project(make_project(tmp_path_factory.mktemp("flooded")))
    status, _, errors = project.call("run", "--scenario", "flooded", "--variant", "all")
    assert status == 0, errors
    return project


@pytest.fixture
def project(tmp_path, make_project) -> Project:
    return Project(make_project(tmp_path))
