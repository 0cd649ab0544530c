// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps the memory for measuring operations. The memory starts at a huge page boundary, so the
 * kernel can use huge pages when they are wanted.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "bench/suite/core/bench_memory.h"

#define HUGE_PAGE (1ULL << 21)

void *bench_memory_map(uint64_t bytes, bool huge_pages)
{
	/* One huge page more than needed, for the alignment. */
	char *data = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return NULL;
	data += -(uintptr_t)data & (HUGE_PAGE - 1);
	/* The result is ignored: a kernel without huge pages refuses the advice. */
	madvise(data, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return data;
}
