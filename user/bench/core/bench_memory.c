// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <sys/mman.h>

#include "bench/core/bench_memory.h"

#define HUGE_PAGE (1ULL << 21)

void *bench_memory_map(uint64_t bytes, bool huge_pages)
{
	/* With room for it to begin where a huge page can. */
	char *data = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return NULL;
	data += -(uintptr_t)data & (HUGE_PAGE - 1);
	/* Advice: a kernel without huge pages may refuse it. */
	madvise(data, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return data;
}
