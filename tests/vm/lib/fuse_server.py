# SPDX-License-Identifier: GPL-2.0-only
"""A FUSE file system showing the files in a folder: `fuse_server.py FOLDER MOUNTPOINT`. It speaks
the <linux/fuse.h> protocol itself, so the guest needs no library. Files can be read, written and
truncated, not created. It runs in the foreground until it is unmounted."""
import ctypes
import errno
import os
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE = 1, 2, 3, 4, 14, 15, 16
RELEASE, FSYNC, FLUSH, INIT, OPENDIR, RELEASEDIR = 18, 20, 25, 26, 27, 29
INTERRUPT, DESTROY, BATCH_FORGET = 36, 38, 42
WITHOUT_ANSWER = (FORGET, BATCH_FORGET, INTERRUPT)

IN_HEADER = struct.Struct("IIQQIIII")       # len, opcode, unique, nodeid, uid, gid, pid, padding
OUT_HEADER = struct.Struct("IiQ")           # len, error, unique
INIT_IN = struct.Struct("IIII")             # major, minor, max_readahead, flags
# These, max_background, congestion_threshold, max_write, time_gran and others.
INIT_OUT = struct.Struct("IIIIHHIIHHI28x")
ATTRIBUTES = struct.Struct("QQQQQQIIIIIIIIII")
TRANSFER_IN = struct.Struct("QQIIQII")      # fh, offset, size, flags, lock_owner, flags, padding
SETATTR_IN = struct.Struct("IIQQ")          # valid, padding, fh, size

MINOR = 31
ASYNC_READ = 1
KEEP_CACHE = 2
SIZE_IS_VALID = 8
ROOT = 1
SECONDS_VALID = 3600
MAX_WRITE = 128 << 10


def attributes(status):
    return ATTRIBUTES.pack(status.st_ino, status.st_size, status.st_blocks, int(status.st_atime),
                           int(status.st_mtime), int(status.st_ctime), 0, 0, 0, status.st_mode,
                           status.st_nlink, status.st_uid, status.st_gid, 0, 4096, 0)


class Server:
    def __init__(self, folder):
        self.paths = {ROOT: folder}     # by nodeid: the number of the inode below
        self.answers = {INIT: self.init, LOOKUP: self.lookup, GETATTR: self.getattr,
                        SETATTR: self.setattr, OPEN: self.open, OPENDIR: self.open,
                        READ: self.read, WRITE: self.write, RELEASE: self.release,
                        RELEASEDIR: self.release, FSYNC: self.fsync, FLUSH: self.nothing,
                        DESTROY: self.nothing}

    def nothing(self, _node, _request):
        return b""

    def init(self, _node, request):
        _, _, max_readahead, _ = INIT_IN.unpack_from(request)
        return INIT_OUT.pack(7, MINOR, max_readahead, ASYNC_READ, 16, 12, MAX_WRITE, 1, 0, 0, 0)

    def lookup(self, node, request):
        path = os.path.join(self.paths[node], request.rstrip(b"\0").decode())
        status = os.lstat(path)
        self.paths[status.st_ino] = path
        return struct.pack("QQQQII", status.st_ino, 0, SECONDS_VALID, SECONDS_VALID, 0, 0) + \
            attributes(status)

    def getattr(self, node, _request):
        return struct.pack("QII", SECONDS_VALID, 0, 0) + attributes(os.lstat(self.paths[node]))

    def setattr(self, node, request):
        valid, _, _, size = SETATTR_IN.unpack_from(request)
        if valid & SIZE_IS_VALID:
            os.truncate(self.paths[node], size)
        return self.getattr(node, request)

    def open(self, node, _request):
        path = self.paths[node]
        folder = stat.S_ISDIR(os.lstat(path).st_mode)
        return struct.pack("QII", os.open(path, os.O_RDONLY if folder else os.O_RDWR),
                           KEEP_CACHE, 0)

    def read(self, _node, request):
        file, offset, size, *_ = TRANSFER_IN.unpack_from(request)
        return os.pread(file, size, offset)

    def write(self, _node, request):
        file, offset, size, *_ = TRANSFER_IN.unpack_from(request)
        return struct.pack("II", os.pwrite(file, request[TRANSFER_IN.size:][:size], offset), 0)

    def release(self, _node, request):
        os.close(struct.unpack_from("Q", request)[0])
        return b""

    def fsync(self, _node, request):
        os.fsync(struct.unpack_from("Q", request)[0])
        return b""

    def answer(self, message):
        """The answer's bytes, or None if this request has none."""
        _, opcode, unique, node, *_ = IN_HEADER.unpack_from(message)
        if opcode in WITHOUT_ANSWER:
            return None
        error, body = -errno.ENOSYS, b""
        if opcode in self.answers:
            try:
                error, body = 0, self.answers[opcode](node, message[IN_HEADER.size:])
            except OSError as reason:
                error = -reason.errno
        return OUT_HEADER.pack(OUT_HEADER.size + len(body), error, unique) + body


def mount(folder):
    """The connection's descriptor."""
    connection = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={connection},rootmode=40000,user_id=0,group_id=0,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"pfstat", folder.encode(), b"fuse", 0, options.encode()):
        raise OSError(ctypes.get_errno(), "mount")
    return connection


def main():
    folder, mountpoint = sys.argv[1:]
    server = Server(folder)
    connection = mount(mountpoint)
    print("mounted", flush=True)
    while True:
        try:
            message = os.read(connection, MAX_WRITE + 4096)
        except OSError as reason:
            if reason.errno == errno.ENODEV:    # it is unmounted
                return
            if reason.errno in (errno.ENOENT, errno.EINTR):     # the request was interrupted
                continue
            raise
        answer = server.answer(message)
        if answer:
            os.write(connection, answer)


if __name__ == "__main__":
    main()
