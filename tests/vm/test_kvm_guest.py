# SPDX-License-Identifier: GPL-2.0-only
"""A virtual CPU touches pages of its guest for the first time: KVM takes the faults in ioctl(2), and
the report names them. QEMU emulates AMD's SVM, so the lab's guest can have a guest of its own."""
import pathlib
import subprocess

import pytest

import pfstat

PROGRAM = pfstat.BUILD / "kvm_guest"
PAGES = 100


def has_kvm():
    if not pfstat.ARM64:
        for module in "kvm_amd", "kvm_intel":
            subprocess.run(["modprobe", module], capture_output=True, check=False)
    return not pfstat.ARM64 and pathlib.Path("/dev/kvm").exists()


pytestmark = pytest.mark.needs(has_kvm(), "KVM for x86-64, with a CPU that can run guests")


@pytest.fixture(name="source", params=[
    pytest.param("module", marks=pytest.mark.needs(not pfstat.ARM64 and pfstat.has_module(),
                                                   "the module's count of all faults")),
    "ebpf"])
def fixture_source(request):
    return request.param


def test_faults_on_the_memory_of_a_guest_are_named(source):
    result, text = pfstat.record(PROGRAM, PAGES, options=("--source", source))
    pfstat.assert_nothing_lost(result)
    # The first page has the code. The process itself touches it.
    assert result["guest"]["faults"] == PAGES
    assert 0 < result["guest"]["total_ns"] < result["parts"]["all"]["total_ns"]
    assert f"On the memory of a guest (KVM): {PAGES} faults" in " ".join(text.split())


def test_get_user_pages_outside_of_a_virtual_cpu_is_not_of_a_guest(source):
    result, _ = pfstat.record("python3", "-c", "import mmap; mmap.mmap(-1, 1 << 20, "
                              "flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)",
                              options=("--source", source))
    assert result["guest"] == {"faults": 0, "total_ns": 0}
