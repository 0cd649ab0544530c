# SPDX-License-Identifier: GPL-2.0-only
"""A locked-down kernel, as with Secure Boot. Lockdown cannot be undone, so this test runs last."""
import errno
import os
import pathlib

import pytest

import pfstat

pytestmark = pytest.mark.needs("CONFIG_SECURITY_LOCKDOWN_LSM" in pfstat.kernel_config(),
                               "a kernel that can be locked down")

LOCKDOWN = pathlib.Path("/sys/kernel/security/lockdown")


@pytest.fixture(autouse=True)
def securityfs():
    if not os.path.ismount("/sys/kernel/security"):
        pfstat.run("mount", "-t", "securityfs", "securityfs", "/sys/kernel/security")


def lock(level):
    LOCKDOWN.write_text(level)
    assert f"[{level}]" in LOCKDOWN.read_text()


def check_closed(level):
    assert f"the kernel is locked down ({level})" in pfstat.refused(1, "record", "--", "true")
    for name, flags in (("control", os.O_WRONLY), ("session", os.O_WRONLY),
                        ("ring/cpu0", os.O_RDONLY)):
        with pytest.raises(PermissionError) as refusal:
            os.open(pfstat.DEBUGFS / name, flags)
        assert refusal.value.errno == errno.EPERM
    # Files that can only be read stay open to root.
    assert (pfstat.DEBUGFS / "stats").read_text().startswith("recording")


def test_lockdown_closes_the_module_and_pfdrive_reports_it(small_file):
    with pfstat.Mapping(small_file) as mapping, pfstat.Session(f"file {mapping.fd()}") as session:
        lock("integrity")
        # An existing session stays open.
        mapping.read(0)
        session.command("stop")
    assert pfstat.stats()["calls"] > 0
    check_closed("integrity")
    lock("confidentiality")
    check_closed("confidentiality")
    pfstat.unload()
    result = pfstat.run("insmod", pfstat.MODULE, check=False)
    assert result.returncode == 1 and not pfstat.loaded()
    assert "is locked down and requires a signed module" in pfstat.refused(1, "record", "--", "true")
