# SPDX-License-Identifier: GPL-2.0-only
"""Writes an image of squashfs 4.0 with one file, compressed with xz. The guest has no mksquashfs.

Data blocks, then tables: the inodes for the file and the folder, the folder, the owner. Each table
is one uncompressed metadata block.
"""
import lzma
import struct

MAGIC, BLOCK_LOG = 0x73717368, 20
BLOCK = 1 << BLOCK_LOG
XZ = 4
NONE = (1 << 64) - 1
NO_FRAGMENT = (1 << 32) - 1
METADATA_PLAIN, DATA_PLAIN = 0x8000, 1 << 24
FOLDER, FILE = 1, 2


def compress(block):
    """The kernel accepts no larger dictionary than a block, and CRC32 only."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": BLOCK, "preset": 6}]
    small = lzma.compress(block, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=filters)
    return (small, len(small)) if len(small) < len(block) else (block, len(block) | DATA_PLAIN)


def metadata(table):
    assert len(table) <= 8192
    return struct.pack("<H", len(table) | METADATA_PLAIN) + table


def inode(kind, mode, number):
    return struct.pack("<HHHHII", kind, mode, 0, 0, 0, number)


def write_image(path, name, content):
    """The file `name` is executable and belongs to root."""
    blocks = [compress(content[at:at + BLOCK]) for at in range(0, len(content), BLOCK)]
    data = b"".join(small for small, _ in blocks)
    sizes = struct.pack(f"<{len(blocks)}I", *(size for _, size in blocks))
    file = inode(FILE, 0o755, 1) + struct.pack("<IIII", 96, NO_FRAGMENT, 0, len(content)) + sizes
    entry = struct.pack("<III", 0, 0, 1) + \
        struct.pack("<HhHH", 0, 0, FILE, len(name) - 1) + name.encode()
    folder = inode(FOLDER, 0o755, 2) + struct.pack("<IIHHI", 0, 2, len(entry) + 3, 0, 3)
    inodes, folders, owners = map(metadata, (file + folder, entry, struct.pack("<I", 0)))
    inode_table = 96 + len(data)
    folder_table = inode_table + len(inodes)
    owner = folder_table + len(folders)
    owner_table = owner + len(owners)
    end = owner_table + 8
    head = struct.pack("<IIIIIHHHHHHQQQQQQQQ", MAGIC, 2, 0, BLOCK, 0, XZ, BLOCK_LOG, 0, 1,
                       4, 0, len(file), end, owner_table, NONE, inode_table, folder_table, NONE,
                       NONE)
    image = head + data + inodes + folders + owners + struct.pack("<Q", owner)
    path.write_bytes(image + bytes(-len(image) % 4096))
