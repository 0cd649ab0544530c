// SPDX-License-Identifier: GPL-2.0-only
/*
 * A monitor prepares guest memory of hugetlb pages: guest_memory touch|populate MIB. One thread
 * stores into each huge page or calls MADV_POPULATE_WRITE. The start takes as long as the kernel
 * needs to clear huge pages.
 */
#include "complaint.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static __attribute__((noinline)) void prefault(volatile char *memory, size_t bytes, bool by_call)
{
	size_t at;

	if (by_call && madvise((void *)memory, bytes, MADV_POPULATE_WRITE))
		err(1, "MADV_POPULATE_WRITE");
	for (at = 0; at < bytes && !by_call; at += 2 * MIB)
		memory[at] = 1;
}

int main(int argc, char **argv)
{
	const size_t bytes = number_of(argc, argv, 2, 100) * MIB;
	char *memory = map_memory(bytes, MAP_PRIVATE | MAP_HUGETLB);

	prefault(memory, bytes, is_word(argc, argv, 1, "populate"));
	puts("guest memory is ready");
	return 0;
}
