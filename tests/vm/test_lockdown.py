# SPDX-License-Identifier: GPL-2.0-only
"""A locked-down kernel, as with Secure Boot. Lockdown cannot be undone, so these tests run last, in
this order.
"""
import errno
import os
import pathlib
import shutil

import pytest

import pfstat

pytestmark = pytest.mark.needs("CONFIG_SECURITY_LOCKDOWN_LSM" in pfstat.kernel_config(),
                               "a kernel that can be locked down")

# Only the lab's debug kernel keeps the key in the folder for building modules.
KBUILD = pathlib.Path("/lib/modules", os.uname().release, "build")
KEY = KBUILD / "certs/signing_key.pem"
LOCKDOWN = pathlib.Path("/sys/kernel/security/lockdown")


@pytest.fixture(autouse=True)
def module():
    """Without the cleanup from other tests, because debugfs is closed after the first of these."""
    pfstat.load()


@pytest.fixture(autouse=True)
def securityfs():
    pfstat.mount_securityfs()


def lock(level):
    if f"[{level}]" not in LOCKDOWN.read_text():
        LOCKDOWN.write_text(level)
    assert f"[{level}]" in LOCKDOWN.read_text()


def check_debugfs_is_closed():
    for name, flags in (("control", os.O_WRONLY), ("session", os.O_WRONLY),
                        ("ring/cpu0", os.O_RDONLY)):
        with pytest.raises(PermissionError) as refusal:
            os.open(pfstat.DEBUGFS / name, flags)
        assert refusal.value.errno == errno.EPERM
    # Files that can only be read stay open to root.
    assert (pfstat.DEBUGFS / "stats").read_text().startswith("recording")


def check_pfdrive_records(small_file, *options):
    result = pfstat.drive(*options, "--accesses", "100", small_file)
    assert result["ledger"]["unexplained"] in (0, None)
    assert sum(row["count"] or 0 for row in result["classes"].values()) > 0
    return result


def test_locked_down_kernel_records_by_the_devices(small_file):
    with pfstat.Mapping(small_file) as mapping, pfstat.Session(f"file {mapping.fd()}") as session:
        lock("integrity")
        # An existing session stays open.
        mapping.read(0)
        session.command("stop")
    assert pfstat.stats()["calls"] > 0
    check_debugfs_is_closed()
    assert check_pfdrive_records(small_file)["syscalls"] is not None
    check_pfdrive_records(small_file, "--source", "ebpf")
    (pfstat.DEVICES / "control").write_text(f"pid {os.getpid()} now\nstop\n")
    assert (pfstat.DEVICES / "log").read_text().startswith("#")


@pytest.mark.needs(KEY.exists(), "the key with which the kernel's modules were signed")
def test_a_signed_module_is_loaded_and_records(small_file, tmp_path):
    lock("integrity")
    pfstat.unload()
    refused = pfstat.run("insmod", pfstat.MODULE, check=False)
    assert refused.returncode == 1 and not pfstat.loaded(), refused

    signed = shutil.copy(pfstat.MODULE, tmp_path)
    pfstat.run(KBUILD / "scripts/sign-file", "sha256", KEY, KEY.with_suffix(".x509"), signed)
    pfstat.run("insmod", signed)
    taint = pathlib.Path("/sys/module/pfstat/taint").read_text()
    assert "E" not in taint, taint      # of a module without a valid signature
    result = check_pfdrive_records(small_file)
    assert result["environment"]["source"] == "module"


def test_confidentiality_leaves_the_module_without_ebpf(small_file):
    lock("confidentiality")
    check_debugfs_is_closed()
    assert "locked down (confidentiality)" in \
        pfstat.refused(1, "record", "--source", "module", "--", "true")
    result, _ = pfstat.record("true")
    assert result["environment"]["source"] == "perf"
    assert check_pfdrive_records(small_file, "--no-bpf")["syscalls"] is None
    with (pfstat.DEVICES / "session").open("rb", buffering=0) as session, \
            pytest.raises(PermissionError):
        session.read(64)        # a function's address

    pfstat.unload()
    result = pfstat.run("insmod", pfstat.MODULE, check=False)
    assert result.returncode == 1 and not pfstat.loaded()
    assert "is locked down and requires a signed module" in \
        pfstat.refused(1, "record", "--source", "module", "--", "true")
