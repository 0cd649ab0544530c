# SPDX-License-Identifier: GPL-2.0-only
"""Reads a trace from 'pfdrive report --format perfetto', field by field in perfetto_trace.proto."""
import dataclasses
import zlib

SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3
# InternedData tables.
CATEGORIES, NAMES, KEYS, TEXTS = 1, 2, 3, 29


@dataclasses.dataclass
class Slice:
    thread: tuple       # (pid, tid)
    category: str
    name: str
    arguments: dict
    start_ns: int
    end_ns: int = None


@dataclasses.dataclass
class Arrow:
    thread: tuple
    ns: int


@dataclasses.dataclass
class Trace:
    slices: list = dataclasses.field(default_factory=list)  # in file order
    starts: dict = dataclasses.field(default_factory=dict)  # by id: Arrow
    ends: dict = dataclasses.field(default_factory=dict)
    thread_names: list = dataclasses.field(default_factory=list)
    end: dict = None    # arguments at the end of the recording

    def of(self, category):
        return [each for each in self.slices if each.category == category]


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """(field number, value) for each field: an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, key
            length, at = number(data, at)
            value, at = data[at:at + length], at + length
        yield key >> 3, value
    assert at == len(data)


def find(data, wanted, default=None):
    return next((value for field, value in fields(data) if field == wanted), default)


class Reader:
    """A viewer's state: the clock, the strings and the tracks so far."""

    def __init__(self):
        self.trace = Trace()
        self.clock_ns = 0
        self.strings = {}
        self.threads = {}   # a track's, by uuid
        self.open = {}      # slices without an end, by track uuid

    def text(self, table, iid):
        return self.strings[table, iid]

    def add_strings(self, data):
        for table, entry in fields(data):
            self.strings[table, find(entry, 1)] = find(entry, 2).decode()

    def add_track(self, data):
        uuid, thread, parent = find(data, 1), find(data, 4), find(data, 5)
        if thread is not None:
            self.threads[uuid] = (find(thread, 1), find(thread, 2))
            if find(thread, 5):
                self.trace.thread_names.append(find(thread, 5).decode())
        elif parent is not None:
            self.threads[uuid] = self.threads[parent]

    def arguments(self, data, wanted):
        result = {}
        for field, argument in fields(data):
            if field != wanted:
                continue
            (_, key), (kind, value) = list(fields(argument))[:2]
            if kind == 11:
                value = self.arguments(argument, 11)
            elif kind == 17:
                value = self.text(TEXTS, value)
            elif kind == 2:
                value = bool(value)
            result[self.text(KEYS, key)] = value
        return result

    def add_event(self, data, ns):
        kind, uuid, legacy = find(data, 9), find(data, 11), find(data, 6)
        if kind == INSTANT:
            self.trace.end = self.arguments(data, 4)
            return
        thread, opened = self.threads[uuid], self.open.setdefault(uuid, [])
        if kind == SLICE_BEGIN:
            opened.append(Slice(thread, self.text(CATEGORIES, find(data, 3)),
                                self.text(NAMES, find(data, 10)), self.arguments(data, 4), ns))
            self.trace.slices.append(opened[-1])
        elif kind == SLICE_END:
            opened.pop().end_ns = ns
        else:
            arrows = {"s": self.trace.starts, "f": self.trace.ends}[chr(find(legacy, 2))]
            ident = find(legacy, 6)
            assert ident not in arrows, ident
            arrows[ident] = Arrow(thread, ns)

    def add_packet(self, data):
        if find(data, 13) == 1:     # the sequence begins, or begins again
            self.strings = {}
            self.clock_ns = find(find(find(data, 6), 1), 2)
        strings, track, event = find(data, 12), find(data, 60), find(data, 11)
        if strings is not None:
            self.add_strings(strings)
        if track is not None:
            self.add_track(track)
        if event is None:
            return
        ns = find(data, 8)
        if find(data, 58) is None:  # the delta clock
            self.clock_ns += ns
            ns = self.clock_ns
        self.add_event(event, ns)


def read(path):
    reader = Reader()
    for _, block in fields(path.read_bytes()):
        for _, packet in fields(zlib.decompress(find(block, 50))):
            reader.add_packet(packet)
    assert not any(reader.open.values()), "a slice without an end"
    assert reader.trace.end is not None, "a trace without an end"
    return reader.trace
