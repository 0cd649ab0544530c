// SPDX-License-Identifier: GPL-2.0-only
/*
 * A service that grows in a container: grow MIB. Above memory.high each allocation reclaims, and
 * the kernel lets the thread sleep on the way out of the fault.
 */
#include "complaint.h"

int main(int argc, char **argv)
{
	const size_t bytes = number_of(argc, argv, 1, 16) * MIB;
	volatile char *memory = map_small_pages(bytes);
	size_t at;

	for (at = 0; at < bytes; at += PAGE)
		memory[at] = 1;
	puts("grown");
	return 0;
}
