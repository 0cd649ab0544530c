# SPDX-License-Identifier: GPL-2.0-only
"""Checks the folder that a student hands in, and copies it for the VMs."""
import contextlib
import os
import pathlib
import shutil
import stat
import tempfile

MOST_BYTES = 1 << 20
MOST_FILES = 200


class Refused(Exception):
    """The text says which input cannot be graded, and what to do."""


def entries(folder):
    """(path, lstat) of each file below FOLDER; follows no symbolic link."""
    for directory, _, names in os.walk(folder):
        for name in names:
            path = pathlib.Path(directory, name)
            yield path, path.lstat()


def check(folder, lab):
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder; name the folder with {', '.join(lab.files)}")
    total = 0
    for number, (path, status) in enumerate(entries(folder), 1):
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{path} is not a regular file; hand in regular files only")
        total += status.st_size
        if number > MOST_FILES or total > MOST_BYTES:
            raise Refused(f"{folder} has more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB; "
                          "hand in the sources only")
    for name in lab.files:
        if not (folder / name).is_file():
            raise Refused(f"{folder} lacks {name}; lab {lab.letter} needs {', '.join(lab.files)}")


@contextlib.contextmanager
def staged(folder, lab):
    """A checked copy of FOLDER."""
    check(folder, lab)
    with tempfile.TemporaryDirectory(prefix="pfstat-grade.") as temporary:
        copy = pathlib.Path(temporary, "submission")
        shutil.copytree(folder, copy, symlinks=True)
        check(copy, lab)
        yield copy
