# SPDX-License-Identifier: Apache-2.0
"""Descriptors that the guest takes over from another process: none is left behind."""

import importlib.util
import os
import socket
import subprocess
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "pathwarp/guest/descriptors.py"


@pytest.fixture
def descriptors():
    spec = importlib.util.spec_from_file_location("guest_descriptors", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sleeper(tmp_path):
    """A process that has a file open as 0 and a listening socket as 1; the port of the latter."""
    with socket.create_server(("127.0.0.1", 0)) as listener, open(tmp_path / "log", "w+") as log:
        process = subprocess.Popen(["sleep", "60"], stdin=log, stdout=listener)
        port = listener.getsockname()[1]
    yield process.pid, port
    process.kill()
    process.wait()


def test_a_socket_of_another_process(descriptors, sleeper):
    pid, port = sleeper
    with descriptors.duplicate_socket(pid, 1) as found:
        assert found.getsockname() == ("127.0.0.1", port)


def test_what_is_no_socket_does_not_stay_open(descriptors, sleeper):
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match=r"not a socket|non-socket"):
        descriptors.duplicate_socket(sleeper[0], 0)
    assert os.listdir("/proc/self/fd") == before
