# SPDX-License-Identifier: GPL-2.0-only
"""The reference of lab a: the faults of a walk that read, by Linux 6.12's rules for a mapped file.

A miss reads a window around its page, of which the last quarter is ahead and begins with a mark;
a hit of the mark reads the next window, whole ahead. If misses exceed hits by a hundred, a miss
reads only its page. (mm/filemap.c: do_sync_mmap_readahead() and do_async_mmap_readahead();
mm/readahead.c: page_cache_ra_unbounded() and ondemand_readahead())
"""
import sys

MANY_MISSES = 100


class Model:
    def __init__(self, pages, window):
        self.pages = pages
        self.window = window
        self.cached = set()
        self.marked = set()
        self.start = self.size = self.ahead = 0
        self.excess = 0         # of misses over hits
        self.reads = 0

    def submit(self):
        size = min(self.size, self.pages - self.start)
        for number in range(size):
            page = self.start + number
            if page not in self.cached:
                self.cached.add(page)
                if number + self.ahead == size:
                    self.marked.add(page)

    def miss(self, page):
        self.reads += 1
        self.excess = min(self.excess + 1, 10 * MANY_MISSES)
        if self.excess > MANY_MISSES:
            self.cached.add(page)
            return
        self.start = max(page - self.window // 2, 0)
        self.size, self.ahead = self.window, self.window // 4
        self.submit()

    def next_size(self, size):
        if size < self.window // 16:
            return 4 * size
        return 2 * size if size <= self.window // 2 else self.window

    def hit_mark(self, page):
        self.marked.discard(page)
        if page == self.start + self.size - self.ahead:
            self.start += self.size
            self.size = max(self.size, self.next_size(self.size))
        else:
            missing = page + 1
            while missing < page + 1 + self.window and missing in self.cached:
                missing += 1
            if missing - page > self.window:
                return
            self.start = missing
            self.size = self.next_size(missing - page + self.window)
        self.ahead = self.size
        self.submit()

    def access(self, page):
        if page not in self.cached:
            self.miss(page)
            return
        self.excess = max(self.excess - 1, 0)
        if page in self.marked:
            self.hit_mark(page)


model = Model(int(sys.argv[1]), int(sys.argv[2]))
for line in sys.stdin:
    model.access(int(line))
print(model.reads)
