# SPDX-License-Identifier: GPL-2.0-only
"""The parts that a flight recorder writes, as an agent collects them."""
import os
import pathlib
import re
import shlex
import signal
import socket

import pytest

import pfstat

PACKAGING = pathlib.Path(__file__).parents[2] / "packaging"
PAGES = 64


@pytest.fixture(name="churn")
def fixture_churn(caller):
    """Two threads faulting until the end of the test."""
    with caller.started("native_faults", "churn", 2, PAGES) as program:
        assert program.stdout.readline() == f"ready {program.pid}\n"
        yield program


@pytest.fixture(name="folder")
def fixture_folder(caller):
    """An empty folder owned by the caller, for recordings."""
    folder = caller.folder / "collected"
    folder.mkdir()
    os.chown(folder, caller.folder.stat().st_uid, -1)
    yield folder
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()


def takes(process, number):
    """True if the process handles this signal, or waits for it."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    masks = re.findall(r"^Sig(?:Cgt|Blk):\t(\w+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> number - 1 & 1 for mask in masks)


def finished(folder):
    """The recordings that an agent may take."""
    return sorted(folder.glob("*.pfs"))


def test_a_part_has_its_name_when_it_is_complete(caller, churn, folder):
    with caller.started("pfdrive", "record", "--source", "perf", "--keep", 0.3, "--max-fault-time",
                        0.001, "-o", folder / "part-%s.pfs", "-p", churn.pid) as recorder:
        taken = set()
        while len(taken) < 4:
            pfstat.wait_until(lambda: recorder.poll() is not None or
                              set(finished(folder)) - taken)
            assert recorder.poll() is None, recorder.communicate()
            for part in set(finished(folder)) - taken:
                recorder.send_signal(signal.SIGSTOP)
                result = pfstat.report_of(caller.run("report", "--format", "json", part).stdout)
                recorder.send_signal(signal.SIGCONT)
                assert result["damage"] is None and result["parts"]["all"]["count"] > 0
                taken.add(part)


def words_of(unit):
    """The command of a unit's recorder, as systemd starts it for the service "db"."""
    text = unit.read_text(encoding="utf-8").replace("\\\n", " ")
    line, = re.findall(r"^ExecStart=(.*)", text, re.MULTILINE)
    variables = dict(name.split("=", 1) for words in re.findall(r"^Environment=(.*)", text,
                                                                re.MULTILINE)
                     for name in shlex.split(words))
    specifiers = {"%%": "%", "%H": socket.gethostname(), "%i": "db"}
    line = re.sub("%.", lambda match: specifiers[match[0]], line)
    # As systemd does: a word $NAME becomes words, and ${NAME} is a part of one.
    for word in line.split():
        if re.fullmatch(r"\$\w+", word):
            yield from variables[word[1:]].split()
        else:
            yield re.sub(r"\$\{(\w+)\}", lambda match: variables.get(match[1], match[0]), word)


@pytest.mark.parametrize("unit, service", [("pfdrive-record.service", "system"),
                                           ("pfdrive-record@.service", "db")])
def test_a_unit_writes_parts_with_host_service_and_time(caller, churn, folder, unit, service):
    command = list(words_of(PACKAGING / unit))
    assert command[:2] == ["@SBINDIR@/pfdrive", "record"]
    group = command.index("--cgroup")
    assert command[group + 1].startswith("/sys/fs/cgroup/system.slice")
    command[group:group + 2] = ["--source", "perf", "-p", str(churn.pid)]
    # systemd makes the folder.
    command = [word.replace("${STATE_DIRECTORY}", str(folder)) for word in command[1:]]
    assert not [word for word in command if "$" in word]
    with caller.started("pfdrive", *command) as recorder:
        pfstat.wait_until(lambda: recorder.poll() is not None or takes(recorder, signal.SIGUSR1))
        recorder.send_signal(signal.SIGUSR1)        # systemctl kill --signal=SIGUSR1
        pfstat.wait_until(lambda: recorder.poll() is not None or finished(folder))
        recorder.terminate()
        assert recorder.wait() == 0, recorder.communicate()
    for part in finished(folder):
        assert re.fullmatch(rf"{re.escape(socket.gethostname())}-{service}-20\d{{6}}T\d{{6}}Z\.pfs",
                            part.name)
        result = pfstat.report_of(caller.run("report", "--format", "json", part).stdout)
        assert result["damage"] is None
