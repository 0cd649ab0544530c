// SPDX-License-Identifier: GPL-2.0-only
/*
 * A runtime with private stacks: thread_stacks COUNT [small]. Each stack is 2 MiB, aligned, and
 * mostly unused. With transparent huge pages the first touch clears 2 MiB, and each stack needs 2
 * MiB of memory. small: MADV_NOHUGEPAGE.
 */
#include "complaint.h"

static __attribute__((noinline)) void use_stack(volatile char *top)
{
	int i;

	for (i = 1; i <= 4; i++)
		top[-i * (long)PAGE] = 1;
}

int main(int argc, char **argv)
{
	const unsigned long count = number_of(argc, argv, 1, 40);
	char *stacks = map_memory((count + 1) * 2 * MIB, MAP_PRIVATE);
	const bool small = is_word(argc, argv, 2, "small");
	unsigned long i;

	stacks += 2 * MIB - (uintptr_t)stacks % (2 * MIB);
	if (madvise(stacks, count * 2 * MIB, small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE))
		err(1, "madvise");
	for (i = 0; i < count; i++)
		use_stack(stacks + (i + 1) * 2 * MIB);
	printf("%lu stacks\n", count);
	return 0;
}
