// SPDX-License-Identifier: GPL-2.0-only
/* The mechanism of a fault, from the note, the class, the content and the access. */
#include <check.h>

#include "analyze/contents.h"
#include "runner.h"
#include "util/array.h"

#define SOLVED(...)	{ .solved = true, ##__VA_ARGS__ }
#define MET(note_, ...) SOLVED(.note = PFSTAT_NOTE_##note_, ##__VA_ARGS__)
#define COPY(content_, ...) \
	SOLVED(.class = FAULT_COW, .content = PFSTAT_CONTENT_##content_, ##__VA_ARGS__)
#define WRITE .flags = PFSTAT_FLAG_WRITE

static const struct {
	const char *claim;
	enum mechanism is;
	struct explained fault;
} rows[] = {
	/* Without a note it is not known whether anonymous memory had a page. */
	{ "anonymous memory without a note is not known", MECHANISM_UNKNOWN,
	  SOLVED(.class = FAULT_ANON, WRITE) },
	{ "a write to an empty entry makes a page", MECHANISM_NEW_PAGE,
	  MET(EMPTY, .class = FAULT_ANON, WRITE) },
	{ "a read of an empty entry maps the zero page", MECHANISM_ZERO_PAGE,
	  MET(EMPTY, .class = FAULT_ANON) },
	{ "a write may make a huge page", MECHANISM_NEW_HUGE_PAGE,
	  MET(EMPTY, .class = FAULT_ANON, WRITE, .huge_order = 9) },
	{ "a page of hugetlbfs has an order", MECHANISM_HUGETLB,
	  MET(EMPTY, .class = FAULT_OTHER, .huge_order = 9) },
	{ "another fault without an entry is not known", MECHANISM_UNKNOWN,
	  MET(EMPTY, .class = FAULT_OTHER) },
	{ "shared memory gets a new page", MECHANISM_NEW_SHARED,
	  SOLVED(.class = FAULT_FILE, .content = PFSTAT_CONTENT_NEW) },
	{ "shared memory had the page", MECHANISM_CACHED,
	  SOLVED(.class = FAULT_FILE, .content = PFSTAT_CONTENT_PRESENT) },
	{ "shared memory read the page from swap", MECHANISM_SWAP_READ,
	  SOLVED(.class = FAULT_FILE, .content = PFSTAT_CONTENT_PRESENT, .major = true) },
	{ "a write to a private mapping of a file copies", MECHANISM_COPY_FILE,
	  SOLVED(.class = FAULT_FILE, .content = PFSTAT_CONTENT_FILE) },
	{ "a file whose calls are not recorded", MECHANISM_OTHER_FILE,
	  MET(EMPTY, .class = FAULT_FILE) },
	{ "a read of the disk", MECHANISM_READ, SOLVED(.class = FAULT_DISK) },
	{ "a retry after a read", MECHANISM_READ, SOLVED(.class = FAULT_SHORT) },
	{ "a page mapped around another one", MECHANISM_CACHED, SOLVED(.class = FAULT_AROUND) },
	{ "a page that was locked", MECHANISM_CACHED, SOLVED(.class = FAULT_LOCK) },
	{ "a private copy of a page in the cache", MECHANISM_COPY_FILE,
	  SOLVED(.class = FAULT_LONG, .content = PFSTAT_CONTENT_FILE) },
	{ "another thread mapped the page meanwhile", MECHANISM_PRESENT,
	  SOLVED(.class = FAULT_RACED) },
	/* An older recording has a migration in the same class. */
	{ "an older recording has migrations among swap", MECHANISM_UNKNOWN,
	  SOLVED(.class = FAULT_SWAP) },
	{ "a major fault read from swap", MECHANISM_SWAP_READ,
	  SOLVED(.class = FAULT_SWAP, .major = true) },
	{ "a minor fault found the page in the swap cache", MECHANISM_SWAP_CACHE,
	  MET(SWAP, .class = FAULT_SWAP) },
	{ "a migration has class swap", MECHANISM_MIGRATION, MET(MIGRATION, .class = FAULT_SWAP) },
	/* A marker of userfaultfd was in the page's place. */
	{ "a marker of userfaultfd was in the page's place", MECHANISM_CACHED,
	  MET(SWAP, .class = FAULT_LONG) },
	{ "a copy of the zero page is not soft-dirty", MECHANISM_COPY_ZERO,
	  COPY(ZERO, .note = PFSTAT_NOTE_CLEAN) },
	{ "a copy of a KSM page", MECHANISM_COPY_KSM, COPY(KSM) },
	{ "a copy of a private file page", MECHANISM_COPY_FILE, COPY(FILE) },
	{ "a copy after a fork", MECHANISM_COPY_FORK, COPY(FORK, .note = PFSTAT_NOTE_FORKED) },
	{ "a copy of a huge page by eBPF", MECHANISM_COPY_UNKNOWN,
	  COPY(UNKNOWN, .note = PFSTAT_NOTE_READ_ONLY) },
	{ "no copy after a fork", MECHANISM_WRITABLE_FORK,
	  COPY(REUSED, .note = PFSTAT_NOTE_FORKED) },
	{ "no copy after clear_refs", MECHANISM_WRITABLE_SOFT_DIRTY,
	  COPY(REUSED, .note = PFSTAT_NOTE_CLEAN) },
	{ "no copy after userfaultfd", MECHANISM_WRITABLE_UFFD,
	  COPY(REUSED, .note = PFSTAT_NOTE_UFFD) },
	{ "no copy of the process's own page", MECHANISM_WRITABLE_OWN,
	  COPY(REUSED, .note = PFSTAT_NOTE_OWN) },
	{ "no copy, and eBPF does not know the owner", MECHANISM_WRITABLE_UNKNOWN,
	  COPY(REUSED, .note = PFSTAT_NOTE_DIRTY) },
	{ "no copy, in an older recording", MECHANISM_WRITABLE_UNKNOWN, COPY(REUSED) },
	{ "the first write to a shared page", MECHANISM_SHARED_FIRST,
	  MET(CLEAN, .class = FAULT_MKWRITE) },
	{ "a write to a shared page after write-back", MECHANISM_SHARED_AGAIN,
	  MET(DIRTY, .class = FAULT_MKWRITE) },
	{ "a kernel without soft-dirty bits", MECHANISM_SHARED_UNKNOWN,
	  MET(READ_ONLY, .class = FAULT_MKWRITE) },
	{ "a shared page in an older recording", MECHANISM_SHARED_UNKNOWN,
	  SOLVED(.class = FAULT_MKWRITE) },
	/* A file system without ->page_mkwrite. */
	{ "a file system without page_mkwrite", MECHANISM_SHARED_FIRST,
	  MET(CLEAN, .class = FAULT_OTHER) },
	{ "a shared page that userfaultfd protects", MECHANISM_WRITABLE_UFFD,
	  MET(UFFD, .class = FAULT_FILE) },
	{ "a NUMA hint", MECHANISM_NUMA_STAYED, MET(NUMA_STAYED, .class = FAULT_OTHER) },
	{ "a NUMA hint that moved the page", MECHANISM_NUMA_MOVED,
	  MET(NUMA_MOVED, .class = FAULT_OTHER) },
	{ "an entry that allowed the access", MECHANISM_PRESENT,
	  MET(PRESENT, .class = FAULT_OTHER) },
	{ "a handler of userfaultfd", MECHANISM_USERFAULT, MET(USERFAULT, .class = FAULT_ANON) },
	{ "a fault that failed", MECHANISM_FAILED, { .result = PFSTAT_RESULT_SIGBUS } },
	{ "a fault whose next attempt never came",
	  MECHANISM_UNFINISHED,
	  { .result = PFSTAT_RESULT_RETRY } },
	{ "perf does not know", MECHANISM_UNKNOWN,
	  SOLVED(.class = FAULT_ANON, .perf = PFSTAT_PERF_SAMPLED) },
};

TEST_ROWS(test_mechanism, row, rows)
{
	ck_assert_str_eq(mechanisms[mechanism_of(&row->fault)].spelling,
			 mechanisms[row->is].spelling);
}

TEST(test_mechanisms_add_up_to_all_faults)
{
	struct contents contents = { 0 };
	struct contents_figures figures;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		contents_add_fault(&contents, &rows[i].fault);
	contents_figures(&contents, &figures);
	for (i = 0; i < NR_MECHANISMS; i++)
		sum += figures.mechanisms[i].count;
	ck_assert_uint_eq(sum, ARRAY_SIZE(rows));
	ck_assert(figures.notes);
}
