// SPDX-License-Identifier: GPL-2.0-only
/* Makes a run's accesses without a measurement, in a process that valgrind watches. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "drive/drive.h"
#include "drive/run_memory.h"
#include "util/message.h"
#include "util/signals.h"

/* Larger than any mapping already gone when main() begins. */
#define LARGEST_HOLE (1ULL << 30)

/*
 * Returns addresses where this process has mapped nothing before. Cachegrind identifies lines by
 * their addresses, and the simulated caches would still hold the earlier lines.
 */
static void *new_addresses(uint64_t bytes)
{
	const uint64_t size = bytes + LARGEST_HOLE;
	void *start =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	munmap(start, size);
	return start;
}

static int make_accesses(struct run_memory *memory, const struct options *options, bool bare)
{
	struct pattern_watch watch = { .stop = &signals_caught };
	int err, status = run_memory_open(memory, options);

	if (status)
		return status;
	memory->mapping.at = new_addresses(memory->mapping.bytes);
	err = mapping_map(&memory->mapping);
	if (err)
		return message(STATUS_FAILED, "cannot map %s: %s", memory->name, strerror(-err));
	if (bare)
		memory->pattern.accesses = 0;
	pattern_run(&memory->pattern, memory->mapping.data, &watch);
	return signals_caught ? 128 + signals_caught : STATUS_OK;
}

int drive_accesses(const struct options *options, bool bare)
{
	struct run_memory memory = RUN_MEMORY_NONE;
	int status;

	signals_init();
	status = make_accesses(&memory, options, bare);
	run_memory_close(&memory);
	return status;
}
