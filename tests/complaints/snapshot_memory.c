// SPDX-License-Identifier: GPL-2.0-only
/*
 * A monitor restores a virtual machine from a memory file: snapshot_memory FILE TOUCHES. It maps
 * the file privately. The guest's first touch of each page reads the page from the disk. The guest
 * writes every second page, and so also copies it.
 */
#include "complaint.h"

static __attribute__((noinline)) void run_guest(volatile char *memory, size_t pages,
						unsigned long touches)
{
	uint64_t seed = 1;
	unsigned long i, sum = 0;

	for (i = 0; i < touches; i++) {
		const size_t at = next_random(&seed) % pages * PAGE;

		if (i % 2)
			memory[at] = (char)sum;
		else
			sum += memory[at];
	}
}

int main(int argc, char **argv)
{
	const unsigned long touches = number_of(argc, argv, 2, 800);
	size_t bytes;
	char *memory = map_file(word_of(argc, argv, 1, "memory"), PROT_READ | PROT_WRITE,
				MAP_PRIVATE, &bytes);

	run_guest(memory, bytes / PAGE, touches);
	puts("resumed");
	return 0;
}
