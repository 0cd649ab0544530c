/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over the files by one method. Bare passes are timed. A watched pass counts system calls
 * and faults, which differ between the methods. Watching each event takes extra time.
 */
#ifndef PFSTAT_USER_IO_PASS_H
#define PFSTAT_USER_IO_PASS_H

#include "bench/io/io_transfer.h"
#include "bench/meminfo.h"
#include "run/result.h"
#include "system/cpus.h"

struct io_pass_plan {
	const struct io_method *method;
	const struct io_files *files;
	unsigned int nr; /* pass only the first nr files */
	enum io_cache cache;
	uint64_t word; /* to be written */
	bool bpf;
	const char *folder; /* folder with the files, for sentences */
	const struct cpus *cpus;
};

struct io_pass {
	uint64_t map_ns, move_ns, sync_ns; /* sync: 0 when it is not waited for */
	bool synced;
	struct usage usage;
	struct meminfo before, after;
	uint64_t resident_before, resident_after; /* pages from the files */
};

/* STATUS_OK, or the exit status, after a message. */
int io_pass_bare(const struct io_pass_plan *plan, struct io_pass *pass);
/* The result must be freed in any case. */
int io_pass_watched(const struct io_pass_plan *plan, struct io_pass *pass, struct result *result);

static inline uint64_t io_pass_ns(const struct io_pass *pass)
{
	return pass->map_ns + pass->move_ns + pass->sync_ns;
}

#endif
