# SPDX-License-Identifier: GPL-2.0-only
"""A loop device or dm-crypt request ends in a thread, which the end of the request to the disk
below it may interrupt. eBPF loses neither."""
import contextlib
import pathlib

import pytest

import filesystems
import pfstat

pytestmark = pytest.mark.no_module

MIB = 1 << 20
FILE_MIB = 16
KEY = "0123456789abcdef" * 4


@contextlib.contextmanager
def loop_device(folder, name, size):
    """A device node over a new file in the folder."""
    pfstat.run("modprobe", "loop")
    image = pathlib.Path(folder) / name
    with open(image, "wb") as file:
        file.truncate(size)
    path = pfstat.run("losetup", "--find", "--show", image).stdout.strip()
    try:
        yield path
    finally:
        pfstat.run("losetup", "--detach", path)
        image.unlink()


@contextlib.contextmanager
def crypt_device(below):
    sectors = pathlib.Path(f"/sys/block/{pathlib.Path(below).name}/size").read_text().strip()
    device = filesystems.Device.__new__(filesystems.Device)
    device.name = "pfstat-crypt"
    device.dmsetup("create", input=f"0 {sectors} crypt aes-xts-plain64 {KEY} 0 {below} 0\n")
    minor = device.dmsetup("info", "-c", "--noheadings", "-o", "minor").stdout.strip()
    device.path = pfstat.device_node(f"dm-{minor}")
    try:
        yield device.path
    finally:
        device.remove()


@contextlib.contextmanager
def mounted(device, name):
    folder = pathlib.Path("/mnt") / name
    folder.mkdir(exist_ok=True)
    pfstat.run(*filesystems.MKFS["ext4"], device)
    pfstat.run("mount", device, folder)
    try:
        yield folder
    finally:
        pfstat.run("umount", folder)


@contextlib.contextmanager
def stacked(kind):
    """A folder on a disk made from the lab's disk."""
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        device = enter(loop_device(pfstat.DISK, "below", (FILE_MIB + 16) * MIB))
        if kind == "a loop on a loop":
            folder = enter(mounted(device, "below"))
            device = enter(loop_device(folder, "above", (FILE_MIB + 8) * MIB))
        elif kind == "dm-crypt":
            device = enter(crypt_device(device))
        yield enter(mounted(device, "above"))


@pytest.mark.needs(filesystems.has_module("loop"), "loop devices")
@pytest.mark.parametrize("kind", [
    "a loop", "a loop on a loop",
    pytest.param("dm-crypt", marks=pytest.mark.needs(filesystems.has_module("dm-crypt", "xts"),
                                                     "dm-crypt")),
])
def test_no_event_of_a_stacked_disk_is_lost(kind):
    with stacked(kind) as folder:
        path = pfstat.make_file(folder / "file", FILE_MIB * MIB)
        for _ in range(2):
            pfstat.drop_cache()
            result, _ = pfstat.record(pfstat.BUILD / "workload", "now", path,
                                      options=("--source", "ebpf"))
            pfstat.assert_nothing_lost(result)
            assert result["classes"]["disk"]["count"] > 0
