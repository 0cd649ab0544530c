# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive bench --peer and --nfs, with a namespace of known delay as the other machine."""
import contextlib
import os
import pathlib
import signal
import subprocess

import pytest

import pfstat

pytestmark = pytest.mark.needs(
    not pfstat.run("modprobe", "-qn", "veth", check=False).returncode, "virtual network cards")

LAB_PEER = pathlib.Path(__file__).parents[2] / "tools/lab-peer"
PEER = "10.213.7.2"
MOUNT = pathlib.Path("/mnt/peer")
DELAY_NS = 2_000_000


def bench(*options, **kwargs):
    return pfstat.run(pfstat.PFDRIVE, "bench", "--quick", "--format", "json", *options, **kwargs)


@contextlib.contextmanager
def peer(*options):
    pfstat.run(LAB_PEER, "start", *options)
    try:
        yield
    finally:
        pfstat.run(LAB_PEER, "stop")


@pytest.fixture(name="results", scope="module")
def of_one_run(tmp_path_factory):
    """Few rows that use the processor: in instruction time they take long."""
    pfstat.load()
    # Load programs and modules from the disk first. While the emulated machine waits for the disk
    # the clock jumps ahead, and 10 s time limits would expire at once.
    with peer("--nfs", pfstat.DISK):
        bench("peer.tcp_rtt", "--peer", PEER)
    path = tmp_path_factory.mktemp("peer") / "predictions"
    with peer("--delay", "2ms", "--nfs", pfstat.DISK):
        path.write_text(pfstat.run(LAB_PEER, "predict").stdout +
                        "nfs.sequential = peer.tcp_rtt\n")
        text = bench("net.icmp_rtt", "net.tcp_[!t]*", "peer", "nfs", "--peer", PEER,
                     "--nfs", MOUNT, "--predict", path).stdout
        ping = pfstat.run("ping", "-q", "-c", "10", "-i", "0.01", PEER).stdout
    return pfstat.report_of(text), ping


@pytest.fixture(name="rows")
def by_name(results):
    return {row["name"]: row for row in results[0]["rows"]}


def median(rows, name):
    """One host stall moves a mean by more than the delay of a round trip."""
    assert rows[name]["measured"], rows[name]["missing"]
    return rows[name]["measured"]["median"]


@pytest.mark.deterministic
@pytest.mark.parametrize("name", ["icmp_rtt", "tcp_rtt", "tcp_setup"])
def test_a_round_trip_grows_by_the_delay(rows, name):
    assert median(rows, f"peer.{name}") - median(rows, f"net.{name}") == pytest.approx(
        DELAY_NS, rel=0.02)


@pytest.mark.deterministic
def test_predictions_from_primitives_and_the_delay_hold(rows):
    """Within 1 % for the network, and within 10 % for NFS, which adds work of its own."""
    for name in ("peer.icmp_rtt", "peer.tcp_rtt", "peer.tcp_setup"):
        row = rows[name]
        assert row["predicted"]["given"] and row["hardware"]["value"] == DELAY_NS
        assert row["predicted"]["value"] == pytest.approx(median(rows, name), rel=0.01)
    for name in ("nfs.sequential:1M", "nfs.random:4M"):
        assert rows[name]["predicted"]["value"] == pytest.approx(median(rows, name), rel=0.1)


@pytest.mark.deterministic
def test_an_echo_agrees_with_ping(results, rows):
    ping_ms = float(results[1].split("= ")[1].split("/")[1])
    assert median(rows, "peer.icmp_rtt") == pytest.approx(ping_ms * 1e6, rel=0.02)


@pytest.mark.deterministic
def test_operations_without_a_reply_are_not_delayed(rows):
    assert median(rows, "peer.tcp_teardown") < DELAY_NS / 50
    # With a window of several MiB per 2 ms the processor is the limit, as on loopback.
    assert 0.5 < median(rows, "peer.tcp_bandwidth") / median(rows, "net.tcp_bandwidth") < 1.1


@pytest.mark.deterministic
def test_a_block_over_nfs_takes_one_round_trip(results, rows):
    for size in ("1M", "2M", "4M"):
        for order in ("sequential", "random"):
            assert DELAY_NS < median(rows, f"nfs.{order}:{size}") < 1.1 * DELAY_NS
        # Readahead fetches 32 blocks at once.
        assert median(rows, f"nfs.dropped:{size}") < DELAY_NS / 10
    assert results[0]["nfs"] == {"directory": str(MOUNT), "filesystem": "nfs4", "device": None,
                                 "no_direct": None}
    assert results[0]["files"] is None      # no file was made elsewhere
    assert results[0]["peer"] == {"host": PEER, "port": "7373"}


@pytest.mark.deterministic
def test_the_kernel_contradicts_no_row(rows):
    assert not {name: row["contradiction"] for name, row in rows.items() if row["contradiction"]}
    for name in ("peer.tcp_rtt", "peer.icmp_rtt"):
        watched = rows[name]["watched"]
        assert watched["counts"]["switches"] >= 0.99 * watched["operations"]


def test_rows_name_the_missing_option_without_a_peer_and_nfs():
    rows = pfstat.report_of(bench("peer", "nfs", "--no-bpf").stdout)["rows"]
    assert {row["missing"].split(":")[1][1:6] for row in rows} == {"--pee", "--nfs"}
    rows = pfstat.report_of(bench("nfs.random", "--no-bpf", "--nfs", pfstat.DISK).stdout)["rows"]
    assert rows[0]["missing"] == "/mnt/disk is not on NFS"


def test_unprivileged_user_also_measures_the_network():
    with peer():
        text = bench("peer", "--no-bpf", "--peer", PEER, user=65534, group=65534,
                     extra_groups=[]).stdout
    rows = {row["name"]: row for row in pfstat.report_of(text)["rows"]}
    # The permission to send pings depends on the system.
    assert rows.pop("peer.icmp_rtt")["missing"] in (
        None, "not permitted to send pings; run as root, or set net.ipv4.ping_group_range")
    assert all(row["measured"] for row in rows.values())


def test_the_server_exits_with_0_on_a_signal():
    with subprocess.Popen([pfstat.PFDRIVE, "bench", "--serve=127.0.0.1", "--port", "7374"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert "port 7374 of 127.0.0.1" in server.stdout.readline()
        rows = pfstat.report_of(bench("peer.tcp_rtt", "--no-bpf", "--peer", "127.0.0.1",
                                      "--port", "7374").stdout)["rows"]
        second = pfstat.run(pfstat.PFDRIVE, "bench", "--serve=127.0.0.1", "--port", "7374",
                            check=False)
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=pfstat.PATIENCE) == ("", "")
    assert server.returncode == 0 and rows[0]["measured"]
    assert second.returncode == 1 and "7374 of 127.0.0.1" in second.stderr


def status_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


@pytest.mark.parametrize("sudo, uid", [({}, "65534"), ({"SUDO_UID": "7", "SUDO_GID": "7"}, "7")])
def test_server_of_root_drops_privileges_and_serves_only_localhost(sudo, uid):
    with subprocess.Popen([pfstat.PFDRIVE, "bench", "--serve", "--port", "7375"],
                          env={**os.environ, **sudo}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as server:
        said = server.stdout.readline()
        status = status_of(server.pid)
        listeners = pfstat.run("ss", "-Hltn", "sport", "=", ":7375").stdout.split()
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=pfstat.PATIENCE) == ("", "")
    assert "7375 of 127.0.0.1 (for other machines: --serve=ADDRESS)" in said
    assert status["Uid"].split() == status["Gid"].split() == [uid] * 4
    assert int(status["CapPrm"], 16) == 0 and status["NoNewPrivs"] == "1"
    assert "127.0.0.1:7375" in listeners


@pytest.mark.parametrize("options, words", [
    (["--serve", "cpu"], "leave out cpu"),
    (["--serve", "--peer", "here"], "leave out --peer"),
    (["--port", "0"], "1 to 65535"),
    (["--port", "1K"], "1 to 65535"),
    (["--peer", ""], "--peer"),
])
def test_bad_input_is_refused(options, words):
    process = bench(*options, check=False)
    assert (process.returncode, process.stdout) == (2, "")
    assert words in process.stderr and process.stderr.count("\n") <= 2


def test_the_peer_leaves_no_interface_namespace_or_process():
    with peer("--delay", "500us"):
        assert "500 us" in pfstat.run(LAB_PEER, "predict").stdout
        again = pfstat.run(LAB_PEER, "start", check=False)
        assert again.returncode == 1 and "there is one already" in again.stderr
    assert "pfpeer" not in pfstat.run("ip", "link").stdout
    assert pfstat.run("ip", "netns", "list").stdout == ""
    assert pfstat.run("pgrep", "-c", "pfdrive", check=False).stdout == "0\n"
    assert pfstat.run(LAB_PEER, "start", "--delay", "soon", check=False).returncode == 2
