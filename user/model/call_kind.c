// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of calls that shape mappings. Advice and flags have their x86-64 and arm64 values,
 * which agree, on each architecture, since a recording may come from another machine. A value
 * missing from the table is printed as a number.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include "model/call_kind.h"

struct named_value {
	uint64_t value;
	const char *name; /* NULL: the end */
};

#define NAMED(value) { value, #value }

static const struct named_value advices[] = {
	NAMED(MADV_NORMAL),	    NAMED(MADV_RANDOM),
	NAMED(MADV_SEQUENTIAL),	    NAMED(MADV_WILLNEED),
	NAMED(MADV_DONTNEED),	    NAMED(MADV_FREE),
	NAMED(MADV_REMOVE),	    NAMED(MADV_DONTFORK),
	NAMED(MADV_DOFORK),	    NAMED(MADV_MERGEABLE),
	NAMED(MADV_UNMERGEABLE),    NAMED(MADV_HUGEPAGE),
	NAMED(MADV_NOHUGEPAGE),	    NAMED(MADV_DONTDUMP),
	NAMED(MADV_DODUMP),	    NAMED(MADV_WIPEONFORK),
	NAMED(MADV_KEEPONFORK),	    NAMED(MADV_COLD),
	NAMED(MADV_PAGEOUT),	    NAMED(MADV_POPULATE_READ),
	NAMED(MADV_POPULATE_WRITE), { 0 },
};

static const struct named_value file_advices[] = {
	NAMED(POSIX_FADV_NORMAL),
	NAMED(POSIX_FADV_RANDOM),
	NAMED(POSIX_FADV_SEQUENTIAL),
	NAMED(POSIX_FADV_WILLNEED),
	NAMED(POSIX_FADV_DONTNEED),
	NAMED(POSIX_FADV_NOREUSE),
	{ 0 },
};

/* MAP_SHARED_VALIDATE has the bits from both MAP_SHARED and MAP_PRIVATE. */
static const struct named_value map_flags[] = {
	NAMED(MAP_SHARED),
	NAMED(MAP_PRIVATE),
	NAMED(MAP_ANONYMOUS),
	NAMED(MAP_FIXED),
	NAMED(MAP_POPULATE),
	{ 0x2000, "MAP_LOCKED" }, /* ppc64 has others for these two */
	{ 0x4000, "MAP_NORESERVE" },
	NAMED(MAP_HUGETLB),
	NAMED(MAP_STACK),
	NAMED(MAP_DENYWRITE),
	NAMED(MAP_GROWSDOWN),
	NAMED(MAP_NONBLOCK),
	{ 0 },
};

static const struct named_value remap_flags[] = {
	{ 1, "MREMAP_MAYMOVE" }, /* and for these three */
	{ 2, "MREMAP_FIXED" },
	{ 4, "MREMAP_DONTUNMAP" },
	{ 0 },
};

static const struct named_value lock_flags[] = { NAMED(MLOCK_ONFAULT), { 0 } };

static const struct named_value lock_all_flags[] = {
	{ 1, "MCL_CURRENT" }, /* and for these three */
	{ 2, "MCL_FUTURE" },
	{ 4, "MCL_ONFAULT" },
	{ 0 },
};

static const struct named_value clone_flags[] = {
	NAMED(CLONE_VM),
	NAMED(CLONE_VFORK),
	NAMED(CLONE_THREAD),
	{ 0 },
};

/* Argument numbers, from 1, or 0 if none. */
static const struct call_kind {
	const char *name;
	unsigned int detail, bytes, address;
	const struct named_value *names; /* for detail */
	bool are_bits;
} kinds[PFSTAT_NR_CALLS] = {
	[PFSTAT_CALL_MADVISE] = { "madvise", 3, 2, 1, advices, false },
	[PFSTAT_CALL_PROCESS_MADVISE] = { "process_madvise", 4, 0, 0, advices, false },
	[PFSTAT_CALL_MMAP] = { "mmap", 4, 2, 0, map_flags, true },
	[PFSTAT_CALL_FADVISE64] = { "fadvise64", 4, 3, 0, file_advices, false },
	[PFSTAT_CALL_MLOCK] = { "mlock", 0, 2, 1, NULL, false },
	[PFSTAT_CALL_MLOCK2] = { "mlock2", 3, 2, 1, lock_flags, true },
	[PFSTAT_CALL_MLOCKALL] = { "mlockall", 1, 0, 0, lock_all_flags, true },
	[PFSTAT_CALL_FORK] = { "fork", 0, 0, 0, NULL, false },
	[PFSTAT_CALL_VFORK] = { "vfork", 0, 0, 0, NULL, false },
	[PFSTAT_CALL_CLONE] = { "clone", 1, 0, 0, clone_flags, true },
	[PFSTAT_CALL_CLONE3] = { "clone3", 0, 0, 0, NULL, false },
	[PFSTAT_CALL_MUNMAP] = { "munmap", 0, 2, 0, NULL, false },
	[PFSTAT_CALL_MREMAP] = { "mremap", 4, 3, 0, remap_flags, true },
	[PFSTAT_CALL_BRK] = { "brk", 0, 0, 0, NULL, false },
};

static uint64_t call_argument(const struct pfstat_call *call, unsigned int number)
{
	return number ? call->args[number - 1] : 0;
}

const char *call_kind_name(enum pfstat_call_kind kind)
{
	return kinds[kind].name;
}

uint64_t call_kind_detail(const struct pfstat_call *call)
{
	const uint64_t detail = call_argument(call, kinds[call->kind].detail);

	/* The others are of type int, so their upper half has no meaning. */
	return call->kind == PFSTAT_CALL_CLONE ? detail : (uint32_t)detail;
}

uint64_t call_kind_bytes(const struct pfstat_call *call)
{
	return call_argument(call, kinds[call->kind].bytes);
}

uint64_t call_kind_address(const struct pfstat_call *call)
{
	if (call->result < 0)
		return 0;
	return call->kind == PFSTAT_CALL_MMAP ? (uint64_t)call->result :
						call_argument(call, kinds[call->kind].address);
}

static void print_value(const struct named_value *named, uint64_t value, FILE *out)
{
	while (named->name && named->value != value)
		named++;
	if (named->name)
		fputs(named->name, out);
	else
		fprintf(out, "%" PRIu64, value);
}

static void print_bits(const struct named_value *named, uint64_t bits, FILE *out)
{
	const char *bar = "";

	for (; named->name; named++) {
		if (!(bits & named->value))
			continue;
		fprintf(out, "%s%s", bar, named->name);
		bits &= ~named->value;
		bar = "|";
	}
	if (bits)
		fprintf(out, "%s0x%" PRIx64, bar, bits);
}

void call_kind_print_detail(enum pfstat_call_kind kind, uint64_t detail, char *text, size_t size)
{
	const struct call_kind *known = &kinds[kind];
	FILE *out;

	text[0] = '\0';
	out = known->names ? fmemopen(text, size, "w") : NULL;
	if (!out)
		return;
	(known->are_bits ? print_bits : print_value)(known->names, detail, out);
	fclose(out);
}
