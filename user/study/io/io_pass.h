/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over the files by one way. Bare passes tell how long it takes; a watched
 * one what happens: system calls and faults are what the ways differ in, and looking
 * at each of them takes time of its own.
 */
#ifndef PFSTAT_USER_IO_PASS_H
#define PFSTAT_USER_IO_PASS_H

#include "run/result.h"
#include "study/io/io_transfer.h"
#include "system/cpus.h"
#include "system/meminfo.h"

struct pass_plan {
	const struct way *way;
	const struct files *files;
	unsigned int nr;	/* of these, the first so many */
	enum via_cache cache;
	uint64_t word;		/* to be written */
	bool bpf;
	const char *folder;	/* of the files, in sentences */
	const struct cpus *cpus;
};

struct pass {
	uint64_t map_ns, move_ns, sync_ns;	/* sync: 0 when it is not waited for */
	bool synced;
	struct usage usage;
	struct meminfo before, after;
	uint64_t resident_before, resident_after;	/* pages of the files */
};

/* STATUS_OK, or the exit status, after a complaint. */
int pass_bare(const struct pass_plan *plan, struct pass *pass);
/* result: what was seen; result_free(). */
int pass_watched(const struct pass_plan *plan, struct pass *pass, struct result *result);

static inline uint64_t pass_ns(const struct pass *pass)
{
	return pass->map_ns + pass->move_ns + pass->sync_ns;
}

#endif
