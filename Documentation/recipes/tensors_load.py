# SPDX-License-Identifier: GPL-2.0-only
"""Loads the tensors of a file in the format of safetensors, layer by layer, through a mapping.

The file is the length of its header, the header in JSON with the range of each tensor, and the
tensors by name. As names are sorted as text (layer 10 before layer 2), a loader that takes the
layers by number jumps in the file. This one takes every second layer, as one of two machines that
share a model does.

usage: tensors_load.py FILE make | load | advised
"""
import json
import mmap
import struct
import sys

LAYERS, SIZE = 64, 256 << 10       # the tensors of a layer: two of this size, 32 MiB in all


def make(path):
    names = sorted(f"layers.{layer}.{kind}.weight" for layer in range(LAYERS)
                   for kind in ("attention", "mlp"))
    header = json.dumps({name: {"dtype": "U8", "shape": [SIZE],
                                "data_offsets": [number * SIZE, (number + 1) * SIZE]}
                         for number, name in enumerate(names)}).encode()
    header += b" " * (-(8 + len(header)) % mmap.PAGESIZE)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for number in range(len(names)):
            file.write(bytes([number]) * SIZE)


def load(path, advised):
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    begin = 8 + length
    wanted = [begin + header[f"layers.{layer}.{kind}.weight"]["data_offsets"][0]
              for layer in range(0, LAYERS, 2) for kind in ("attention", "mlp")]
    if advised:
        for offset in wanted:
            data.madvise(mmap.MADV_WILLNEED, offset, SIZE)
    return [data[offset:offset + SIZE] for offset in wanted]       # copies, as to a device


if sys.argv[2] == "make":
    make(sys.argv[1])
else:
    print(len(load(sys.argv[1], sys.argv[2] == "advised")), "tensors")
