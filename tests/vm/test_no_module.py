# SPDX-License-Identifier: GPL-2.0-only
"""Without the module, also on kernels that load none: with PREEMPT_RT, and locked down."""
import pathlib
import re
import subprocess

import pytest

import pfstat

pytestmark = pytest.mark.no_module

TOP = pathlib.Path(__file__).parents[2]
RT = pfstat.kernel_config().get("CONFIG_PREEMPT_RT") == "y"
LEVEL = pfstat.boot_lockdown()
ebpf = pytest.mark.needs(LEVEL != "confidentiality", "eBPF that may read the kernel's memory")


@pytest.fixture(autouse=True)
def without_module(module):
    if LEVEL:
        pfstat.mount_securityfs()
    if pfstat.has_module():
        pfstat.unload()
    yield
    if pfstat.has_module():
        pfstat.load()


@ebpf
def test_a_program_is_recorded(small_file, tmp_path):
    recording = tmp_path / "run.pfs"
    pfstat.record(pfstat.BUILD / "touch_pages", small_file, "read", *range(256),
                  options=("-o", recording))
    result = pfstat.report(recording, "--by", "file")
    assert result["environment"]["source"] == "ebpf"
    assert result["lost"] == 0
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    assert pfstat.group_of(result, small_file)["faults"] > 0


@pytest.mark.needs(LEVEL == "confidentiality", "lockdown for confidentiality")
def test_confidentiality_leaves_perf_to_record_with():
    result, _ = pfstat.record("true")
    assert result["environment"]["source"] == "perf"
    assert "locked down (confidentiality)" in result["bpf_missing"]
    assert result["events_lost"] == 0
    assert result["ledger"]["unexplained"] == 0, result["ledger"]
    assert "locked down (confidentiality)" in \
        pfstat.refused(1, "record", "--source", "ebpf", "--", "true")


@pytest.mark.needs(LEVEL, "a kernel that was booted locked down")
def test_an_unsigned_module_is_refused():
    assert pfstat.run("insmod", pfstat.MODULE, check=False).returncode == 1
    assert not pfstat.loaded()
    assert "is locked down and requires a signed module" in \
        pfstat.refused(1, "record", "--source", "module", "--", "true")
    doctor = pfstat.run(pfstat.PFDRIVE, "doctor", check=False).stdout
    assert re.search(rf"^\S+ +lockdown +.*{LEVEL}", doctor, re.MULTILINE), doctor


@pytest.mark.needs(RT, "a kernel with PREEMPT_RT")
def test_the_build_for_preempt_rt_is_refused_in_one_sentence(tmp_path):
    result = subprocess.run(["make", "-C", TOP, "module", f"BUILD={tmp_path}"], text=True,
                            capture_output=True, timeout=pfstat.PATIENCE, check=False)
    assert result.returncode
    line, = (line for line in result.stderr.splitlines() if "*** pfstat" in line)
    assert "*** pfstat cannot be built for a kernel with PREEMPT_RT" in line
    doctor = pfstat.run(pfstat.PFDRIVE, "doctor", check=False).stdout
    assert re.search(r"^limited +kernel +Linux \S+ has PREEMPT_RT", doctor, re.MULTILINE), doctor
