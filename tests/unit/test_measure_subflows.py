# SPDX-License-Identifier: Apache-2.0
"""The data's connection and its subflows."""

import pcap_writer as writer
import pytest
from trial_writer import KEYS, TOKEN, TrialWriter, ns

from pathwarp.base.complaints import Complaints
from pathwarp.compare.packets import sightings
from pathwarp.measure.inputs import read_inputs
from pathwarp.measure.transports import packets, periods, subflows
from pathwarp.wire import mptcp

OTHER_KEYS = 11, 12
OTHER_TOKEN = mptcp.token_and_first_dsn(OTHER_KEYS[1])[0]
SYN, ACK = writer.SYN, writer.ACK


def find(trial):
    inputs = read_inputs(trial.finish())
    decoded = subflows.load(inputs)
    connection = subflows.find_connection(inputs, decoded)
    return connection, periods.established(inputs, connection, decoded)


def open_pair(trial):
    trial.open("wlan", 0, isn=500)
    trial.open("4g", 20, isn=2**32 - 10)
    trial.send("wlan", 100, 0, 400)
    return trial


def test_subflows_of_a_connection(tmp_path):
    connection, established = find(open_pair(TrialWriter(tmp_path)))
    first, second = connection.subflows
    assert (first.path, first.isn, first.syn_ns, first.joined) == ("wlan", 500, ns(0), False)
    assert (second.path, second.isn, second.syn_ns, second.joined) == ("4g", 2**32 - 10, ns(20), True)
    assert connection.first_dsn == mptcp.token_and_first_dsn(KEYS[0])[1]
    assert established == [(ns(20), periods.FOREVER)]


def test_signalling_connection_stays_out(tmp_path):
    """Its MPTCP connection goes to another port, but its further subflows may use the data's."""
    trial = open_pair(TrialWriter(tmp_path))
    server, client = ("10.1.0.1", 50000), ("10.1.1.1", 9000)
    for at_ms, options in ((-50, writer.capable()), (-38, writer.capable(*OTHER_KEYS))):
        trial.put("wlan", at_ms, writer.segment(server, client, 1, SYN if at_ms == -50 else ACK, options=options))
    joining = writer.segment(("10.2.0.1", 50001), ("10.2.1.1", 8999), 1, SYN, options=writer.join(1, OTHER_TOKEN))
    trial.put("4g", 10, joining)
    connection, established = find(trial)
    assert [flow.sender[1] for flow in connection.subflows] == [40001, 40002]
    assert established == [(ns(20), periods.FOREVER)]


def test_a_connection_that_got_no_data_stays_out(tmp_path):
    trial = open_pair(TrialWriter(tmp_path))
    trial.put("wlan", -20, writer.segment(("10.1.0.1", 39999), ("10.1.1.1", 8999), 9, SYN))
    connection, _ = find(trial)
    assert [flow.sender[1] for flow in connection.subflows] == [40001, 40002]


def test_a_port_with_two_connections_is_named(tmp_path):
    """Orders fix the data's port: nobody is to guess which of two connections it is."""
    trial = open_pair(TrialWriter(tmp_path))
    ends = ("10.1.0.1", 39999), ("10.1.1.1", 8999)
    trial.put("wlan", -20, writer.segment(*ends, 9, SYN))
    trial.put("wlan", -10, writer.segment(*ends, 10, ACK, 100))
    with pytest.raises(Complaints, match="has 2 connections from server to port 8999, not one"):
        find(trial)


def test_subflow_that_the_receiver_opens(tmp_path):
    trial = TrialWriter(tmp_path)
    trial.open("wlan", 0)
    trial.send("wlan", 50, 0, 400)
    sender_token = mptcp.token_and_first_dsn(KEYS[0])[0]
    server, client = ("10.2.0.1", 8997), ("10.2.1.1", 33000)
    syn = writer.segment(client, server, 70, SYN, options=writer.join(2, sender_token))
    accept = writer.segment(server, client, 4000, SYN | ACK, options=writer.option(1, 0, bytes([1]) + bytes(12)))
    trial.put("4g", 60, syn, back=True)
    trial.put("4g", 100, accept)
    connection, _ = find(trial)
    assert [(flow.path, flow.isn, flow.joined) for flow in connection.subflows] == [
        ("wlan", 1000, False),
        ("4g", 4000, True),
    ]
    assert connection.subflows[1].syn_ns == ns(100)


def test_plain_tcp(tmp_path):
    trial = TrialWriter(tmp_path, transport="tcp", paths=("wlan",))
    trial.open("wlan", 0)
    trial.send("wlan", 20, 0, 400)
    connection, established = find(trial)
    assert len(connection.subflows) == 1
    assert connection.first_dsn is None
    assert established == []


def test_periods_go_from_join_to_removal(tmp_path):
    trial = open_pair(TrialWriter(tmp_path))
    server, client = trial.ends("4g")
    removal = writer.segment(client, server, 78, options=writer.option(4, 0, bytes([0])))
    trial.put("4g", 1000, removal, back=True)
    trial.put("4g", 1100, removal, back=True)
    again = writer.segment(("10.1.0.1", 41000), ("10.1.1.1", 8998), 5, SYN, options=writer.join(0, TOKEN))
    trial.put("wlan", 2000, again)
    _, established = find(trial)
    assert established == [(ns(20), ns(1040)), (ns(2000), periods.FOREVER)]


def test_trial_without_the_connection_is_named(tmp_path):
    with pytest.raises(Complaints, match="has no connection from server to port 8999"):
        find(TrialWriter(tmp_path))


@pytest.mark.parametrize(("spoken", "meant"), [("tcp", "mptcp"), ("mptcp", "tcp")])
def test_other_transport_than_meant_is_named(tmp_path, spoken, meant):
    trial = TrialWriter(tmp_path, transport=spoken, paths=("wlan",))
    trial.open("wlan", 0)
    trial.transport = meant
    with pytest.raises(Complaints, match=f"the data's connection is {spoken}, the trial's transport {meant}"):
        find(trial)


def test_a_port_that_is_drawn_again_is_another_subflow(tmp_path):
    trial = open_pair(TrialWriter(tmp_path))
    trial.send("4g", 200, 400, 300)
    trial.open("4g", 1000, isn=77_000)
    trial.send("4g", 1100, 700, 200)
    inputs = read_inputs(trial.finish())
    decoded = subflows.load(inputs)
    connection = subflows.find_connection(inputs, decoded)
    assert [(flow.path, flow.isn, flow.syn_ns) for flow in connection.subflows] == [
        ("wlan", 500, ns(0)),
        ("4g", 2**32 - 10, ns(20)),
        ("4g", 77_000, ns(1000)),
    ]
    assert [flow.until_ns for flow in connection.subflows] == [subflows.FOREVER, ns(1000), subflows.FOREVER]
    table = packets.collect(inputs, connection, decoded)
    assert list(zip(table.subflow, table.seq, table.offset, table.length, strict=True)) == [
        (0, 1, 0, 400),
        (1, 1, 400, 300),
        (2, 1, 700, 200),
    ]
    assert table.delivered.all()
    assert periods.established(inputs, connection, decoded) == [(ns(20), periods.FOREVER)]
    assert set(sightings.collect(inputs, connection, decoded).flow) == {0, 1, 2}
