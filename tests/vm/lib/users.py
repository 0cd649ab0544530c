# SPDX-License-Identifier: GPL-2.0-only
"""A guest user who may call sudo, and root with reduced privileges."""
import contextlib
import os
import pathlib
import shutil

import pfstat

NAME = "pfstat-user"
UID, GID, EXTRA_GID = 4711, 4712, 4713
HOME = pathlib.Path("/home") / NAME
SUDOERS = pathlib.Path("/etc/sudoers.d/pfstat-user")
FILES = {
    "/etc/passwd": f"{NAME}:x:{UID}:{GID}::{HOME}:/bin/sh\n",
    # No password, but a valid account, which PAM checks.
    "/etc/shadow": f"{NAME}:*:20000:0:99999:7:::\n",
    "/etc/group": f"{NAME}:x:{GID}:\npfstat-extra:x:{EXTRA_GID}:{NAME}\n",
    # Otherwise sudo warns on standard error about not resolving its own host name.
    "/etc/hosts": f"127.0.0.1 {os.uname().nodename}\n",
}


@contextlib.contextmanager
def user():
    """Creates the user, in two groups and with a home folder, until the block ends."""
    before = {path: pathlib.Path(path).read_text() if os.path.exists(path) else ""
              for path in FILES}
    for path, lines in FILES.items():
        pathlib.Path(path).write_text(before[path] + lines)
    HOME.mkdir(parents=True)
    os.chown(HOME, UID, GID)
    SUDOERS.write_text(f"{NAME} ALL=(ALL) NOPASSWD: ALL\n")
    SUDOERS.chmod(0o440)
    try:
        yield HOME
    finally:
        SUDOERS.unlink()
        shutil.rmtree(HOME)
        for path, text in before.items():
            pathlib.Path(path).write_text(text)


def sudo(*command, **kwargs):
    """Runs the command with sudo as the user, in the user's home. Returns a CompletedProcess."""
    environment = {"HOME": str(HOME), "USER": NAME, "PATH": os.environ["PATH"]}
    return pfstat.run("setpriv", f"--reuid={UID}", f"--regid={GID}", "--init-groups",
                      "sudo", "-n", *command, cwd=HOME, env=environment, **kwargs)


def without(capabilities, *command, **kwargs):
    """Runs the command as root without these capabilities: "-bpf,-sys_admin"."""
    return pfstat.run("setpriv", f"--bounding-set={capabilities}",
                      f"--inh-caps={capabilities}", *command, check=False, **kwargs)
