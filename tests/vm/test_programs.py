# SPDX-License-Identifier: GPL-2.0-only
"""Real programs, recorded from before their exec: the ledger adds up for each of them."""
import pathlib
import signal
import sqlite3
import subprocess
import time

import pytest

import pfstat
from pfstat import faults, group_of, record

PAGES = 512
SIZE = PAGES * pfstat.PAGE


@pytest.fixture(name="cold_file")
def fixture_cold_file():
    path = pfstat.make_file(pfstat.DISK / "programs", SIZE, b"a line of text\n"[:1])
    pfstat.drop_cache()
    return path


def closes(result):
    """Nothing was lost, and every difference between the counts has a reason."""
    pfstat.assert_nothing_lost(result)
    assert result["calls"] == sum(c["count"] for c in result["classes"].values())
    assert result["rusage"]["minflt"] is not None


def test_cat_of_a_cold_file_maps_only_its_libraries(cold_file):
    result, _ = record("cat", cold_file)
    closes(result)
    # cat uses read(2): the pages are read, but no fault maps them.
    assert result["readahead"]["read"] >= PAGES
    assert result["requests"]["reads"] > 0


def test_ledger_adds_up_for_grep_of_a_cold_file(cold_file):
    result, _ = record("grep", "-c", "nothing of the kind", cold_file, check=False)
    closes(result)
    assert result["requests"]["bytes_read"] >= SIZE


def test_ledger_adds_up_for_python_with_mmap(cold_file):
    script = ("import mmap\n"
              f"with open('{cold_file}', 'rb') as file:\n"
              "    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
              "    print(sum(data[i] for i in range(0, len(data), mmap.PAGESIZE)))\n")
    result, out = record("python3", "-c", script, options=("--by", "file"))
    closes(result)
    assert int(out.split()[0]) == ord("a") * PAGES
    row = group_of(result, cold_file)
    assert row["faults"] >= PAGES / 16 and row["major"] >= 1


def test_ledger_adds_up_for_sqlite_with_mmap(tmp_path):
    path = pfstat.DISK / "test.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a integer primary key, b text)")
        connection.executemany("insert into t (b) values (?)",
                               [("x" * 100,) for _ in range(20000)])
    connection.close()
    pfstat.drop_cache()
    result, out = record("sqlite3", path, "pragma mmap_size=268435456;"
                         "select count(*) from t where b like '%y%'", options=("--by", "file"))
    closes(result)
    assert out.split()[1] == "0"
    row = group_of(result, path)
    assert row["faults"] > 0 and row["major"] > 0


@pytest.mark.parametrize("how", ["same", "apart"])
def test_ledger_adds_up_for_four_threads(how, cold_file):
    result, _ = record(pfstat.BUILD / "workload", how, cold_file, "4", options=("--by", "thread"))
    closes(result)
    rows = [row for row in result["groups"]["rows"] if row["name"].startswith("workload")]
    assert len(rows) == 5
    assert result["ledger"]["unexplained"] == 0


def test_ledger_adds_up_for_fork_server(cold_file):
    result, _ = record(pfstat.BUILD / "workload", "server", cold_file, "100",
                       options=("--by", "file"))
    closes(result)
    assert group_of(result, cold_file)["faults"] >= 100


def test_ledger_adds_up_for_a_program_that_executes_itself(cold_file):
    result, _ = record(pfstat.BUILD / "workload", "execs", cold_file, "10",
                       options=("--by", "file", "--fault-around", "off"))
    closes(result)
    assert group_of(result, cold_file)["faults"] == PAGES


def test_populate_faults_count_as_get_user_pages(cold_file):
    result, _ = record(pfstat.BUILD / "workload", "filled", cold_file,
                       options=("--by", "file", "--fault-around", "off"))
    closes(result)
    assert group_of(result, cold_file)["faults"] == PAGES


def test_anonymous_faults_are_counted():
    result, _ = record(pfstat.BUILD / "workload", "anon", "1000")
    closes(result)
    assert 1000 <= faults(result, "anon") <= 1200


def test_copies_on_write_are_counted():
    result, _ = record(pfstat.BUILD / "workload", "copy", "1000")
    closes(result)
    assert 1000 <= faults(result, "cow") <= 1200


def test_programs_that_exit_during_detach_are_accounted_for():
    """They fault when some of the eBPF programs are detached already and others are not."""
    out = pathlib.Path("/tmp/ending.json")
    for _ in range(3):
        with subprocess.Popen(["sh", "-c", "read _; while :; do /bin/true; done"],
                              stdin=subprocess.PIPE) as loop:
            recorder = pfstat.begin_record("-p", loop.pid, "--json", out)
            loop.stdin.write(b"\n")
            loop.stdin.flush()
            time.sleep(0.3)
            recorder.send_signal(signal.SIGINT)
            _, stderr = recorder.communicate(timeout=pfstat.PATIENCE)
            loop.kill()
        assert recorder.returncode == 0, stderr
        result = pfstat.report_of(out.read_text())
        assert result["faults"] > 0 and result["ledger"]["unexplained"] == 0, result["ledger"]
    out.unlink()


@pytest.fixture(name="swap")
def fixture_swap():
    """A null_blk as the only swap device, and an 8 MiB cgroup."""
    with pfstat.swap_disk("swap"):
        group = pfstat.cgroup("small", "memory")
        (group / "memory.max").write_text(str(8 << 20))
        yield group
        group.rmdir()


def test_swap_in_under_a_memory_limit_is_counted(swap):
    result, _ = record("sh", "-c", f"echo 0 >{swap}/cgroup.procs; "
                       f"exec {pfstat.BUILD}/workload twice 4096")
    closes(result)
    assert faults(result, "anon") >= 4096
    # At least half of the 16 MiB was swapped out and read again.
    assert faults(result, "swap") >= 2048
    parts = result["parts"]["classes"]["swap"]["parts"]
    assert parts["device"]["total_ns"] > 0


def test_refaults_are_attributed_to_the_evictor(swap, cold_file):
    """One process reads a file, another fills the group's memory, and the first must read the file
    again."""
    workload = pfstat.BUILD / "workload"
    result, _ = record("sh", "-c", f"echo 0 >{swap}/cgroup.procs; {workload} now {cold_file}; "
                       f"{workload} anon 4096; exec {workload} now {cold_file}",
                       options=("--by", "thread"))
    closes(result)
    evictions = result["evictions"]
    assert evictions["overflow"] == 0 and evictions["evicted"] >= PAGES // 2
    # The last process may also evict pages of its own while it reads.
    blamed = [row for row in evictions["blame"]
              if row["evictor_name"] == "workload" and row["evictor"] != row["victim"]]
    assert sum(row["pages"] for row in blamed) >= PAGES // 2
    assert {row["reason"] for row in blamed} == {"reclaimed"}, blamed
    # Read-ahead reads many pages for one fault that waits.
    assert 0 < sum(row["faults"] for row in blamed) < sum(row["pages"] for row in blamed)
    assert sum(row["total_ns"] for row in evictions["blame"]) <= \
        result["parts"]["all"]["total_ns"]


@pytest.mark.parametrize("drop,call", (
    ("echo 1 >/proc/sys/vm/drop_caches", "write"),
    ("dd if=$1 iflag=nocache count=0 status=none", "fadvise64")))
def test_pages_that_are_dropped_are_not_reclaimed(cold_file, drop, call):
    """Memory is not short: a shell drops the page cache, or gives advice for the whole file."""
    workload = pfstat.BUILD / "workload"
    result, text = record("sh", "-c", f"{workload} now $1; {drop}; exec {workload} now $1", "sh",
                          str(cold_file), options=("--full",))
    again = result["evictions"]["again"]
    assert again["dropped"]["pages"] >= PAGES // 2 and again["dropped"]["faults"] >= 1
    assert again["reclaimed"]["pages"] == again["unknown"]["pages"] == 0
    assert {row["reason"] for row in result["evictions"]["blame"]} == {"dropped"}
    assert f"  dropped, {call}()  " in text


def test_ledger_adds_up_for_a_running_process(cold_file):
    workload = pfstat.Workload("touch", cold_file)
    out = pathlib.Path("/tmp/record.json")
    process = pfstat.begin_record("-p", workload.pid, "--by", "file", "--fault-around", "off",
                                  "--json", out)
    workload.finish()
    _, stderr = process.communicate(timeout=pfstat.PATIENCE)
    assert process.returncode == 0, stderr
    result = pfstat.report_of(out.read_text())
    assert result["calls"] == sum(c["count"] for c in result["classes"].values())
    assert group_of(result, cold_file)["faults"] == PAGES
