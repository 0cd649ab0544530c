// SPDX-License-Identifier: GPL-2.0-only
/*
 * A game looks at random memory pages: game MIB LOOKS. If the game's limit is lower, the kernel
 * swaps a page out for each page that it swaps in.
 */
#include "complaint.h"

int main(int argc, char **argv)
{
	const unsigned long pages = number_of(argc, argv, 1, 24) * (MIB / PAGE);
	const unsigned long looks = number_of(argc, argv, 2, 3000);
	uint64_t *memory = (uint64_t *)map_small_pages(pages * PAGE), seed = 1, sum = 0;
	unsigned long i, j;

	/* Pages, all different, and half-compressible. */
	for (i = 0; i < pages; i++)
		for (j = 0; j < PAGE / 8; j += 2)
			memory[i * (PAGE / 8) + j] = next_random(&seed);
	for (i = 0; i < looks; i++)
		sum += memory[next_random(&seed) % pages * (PAGE / 8)];
	printf("%lu looks, %lu\n", looks, (unsigned long)sum & 1);
	return 0;
}
