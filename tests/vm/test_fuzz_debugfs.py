# SPDX-License-Identifier: GPL-2.0-only
"""Whatever is done with the module's files, in any order and from several processes: the
kernel says nothing of it, nobody reads wrong data, and the recorder works right after.

--operations and --seed choose how much, and repeat what was; see fuzz_debugfs.c."""
import subprocess

import pfstat
from pfstat import PAGE, Mapping, Session


def test_the_files_endure_anything(pytestconfig, capsys):
    operations = pytestconfig.getoption("--operations")
    seed = pytestconfig.getoption("--seed")
    file = pfstat.make_file(pfstat.DISK / "fuzzed", 64 * PAGE)
    command = [pfstat.BUILD / "fuzz_debugfs", file, operations, *([seed] if seed else [])]
    result = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                            timeout=pfstat.PATIENCE + operations // 20, check=False)
    with capsys.disabled():
        print("\n" + result.stdout, end="", flush=True)
    assert result.returncode == 0, result.stdout + result.stderr

    pfstat.control("stop\nring_size 4M\nmode drop\nfault_around keep\nclear")
    assert pfstat.targets().startswith("recorder none") and pfstat.hooked() == 0
    with Mapping(file) as mapping:
        pfstat.warm(file)
        with Session("fault_around off", f"file {mapping.fd()}"):
            for page in range(64):
                assert mapping.read(page) == page
    assert pfstat.log()[0] == {"calls": 64, "here": 64, "lost": 0}
    pfstat.unload()
    pfstat.load()
