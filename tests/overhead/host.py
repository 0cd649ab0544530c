# SPDX-License-Identifier: GPL-2.0-only
"""Prepares the machine for a benchmark: checks requirements, confirms with the user, and restores
the settings."""
import contextlib
import mmap
import os
import pathlib
import platform
import subprocess
import sys

FAULT_AROUND = pathlib.Path("/sys/kernel/debug/fault_around_bytes")
CAP_SYS_MODULE = 16


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def may_load_modules():
    for line in read("/proc/self/status").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16) >> CAP_SYS_MODULE & 1
    return False


def vermagic(module):
    said = subprocess.run(["modinfo", "-F", "vermagic", module], capture_output=True, text=True,
                          check=False)
    return said.stdout.split()[0] if said.stdout.split() else ""


def obstacle(module):
    """The reason, in one sentence, why the benchmark cannot run here, or None if it can."""
    if os.geteuid():
        return "it loads a module: run it as root"
    if not pathlib.Path("/proc/modules").exists():
        return "this kernel has no loadable modules (CONFIG_MODULES): use the lab (make bench)"
    if read("/proc/sys/kernel/modules_disabled") == "1":
        return "this kernel loads no more modules (kernel.modules_disabled is 1): use the lab"
    if not may_load_modules():
        return "it may not load modules without CAP_SYS_MODULE: run it outside of the container"
    if not module.exists():
        return f"there is no {module}: run make first, which needs this kernel's headers"
    if vermagic(module) != platform.release():
        return (f"{module} was built for Linux {vermagic(module) or 'of no known version'}, and "
                f"this is {platform.release()}: run make")
    if not FAULT_AROUND.exists():
        return f"there is no {FAULT_AROUND}: run mount -t debugfs none /sys/kernel/debug"
    if pathlib.Path("/sys/module/pfstat").exists():
        return "the pfstat module is loaded: end who uses it, and run rmmod pfstat"
    return None


def may_touch(what):
    """Asks the user at the terminal."""
    print(what, file=sys.stderr)
    if not sys.stdin.isatty():
        return False
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def remarks():
    """Properties of this machine that make times less certain."""
    said = []
    if "hypervisor" in read("/proc/cpuinfo"):
        said.append("this is a virtual machine: others may have had its CPUs, and an "
                    "emulated one counts what the emulator does")
    governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor not in ("", "performance"):
        said.append(f"the CPUs' frequency changes (governor {governor}): cpupower frequency-set "
                    "-g performance")
    if os.getloadavg()[0] > 0.5 * os.cpu_count():
        said.append(f"the machine is busy: load {os.getloadavg()[0]:.1f}, "
                    f"{os.cpu_count()} CPUs")
    return said


@contextlib.contextmanager
def fault_around_off():
    before = FAULT_AROUND.read_text(encoding="ascii")
    FAULT_AROUND.write_text(str(mmap.PAGESIZE), encoding="ascii")
    try:
        yield
    finally:
        FAULT_AROUND.write_text(before, encoding="ascii")


@contextlib.contextmanager
def warm_file(path, mib):
    """In the page cache and on the disk, so that no write-back occurs during the benchmark."""
    try:
        path.write_bytes(os.urandom(mib << 20))
        os.sync()
        path.read_bytes()
        yield path
    finally:
        path.unlink(missing_ok=True)
