// SPDX-License-Identifier: GPL-2.0-only
/*
 * A worker keeps blocks in a mapped file on a slow disk: block_store FILE. Each store makes a clean
 * page dirty. With too many dirty pages the kernel puts the thread to sleep inside the page fault
 * (balance_dirty_pages) until the disk has written some.
 */
#include "complaint.h"

int main(int argc, char **argv)
{
	volatile char *blocks;
	size_t bytes, at;

	blocks = map_file(word_of(argc, argv, 1, "blocks"), PROT_READ | PROT_WRITE, MAP_SHARED,
			  &bytes);
	for (at = 0; at < bytes; at += PAGE)
		blocks[at]++;
	printf("%zu pages stored\n", bytes / PAGE);
	return 0;
}
