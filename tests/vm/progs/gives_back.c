// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: gives_back munmap|brk|madvise|fixed|malloc|move|never PAGES ROUNDS: touches so many pages
 * in each round, and gives them back in this way. move: a mapping that moves. never: new memory in
 * each round.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static size_t bytes;

static char *map(void *place, int fixed)
{
	char *memory = mmap(place, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

static void touch(volatile char *memory)
{
	size_t at;

	for (at = 0; at < bytes; at += sysconf(_SC_PAGESIZE))
		memory[at] = 1;
}

/* Not in line, because the report names it. */
__attribute__((noinline)) static void give_back(const char *how, char *memory)
{
	if (!strcmp(how, "munmap"))
		munmap(memory, bytes);
	else if (!strcmp(how, "madvise"))
		madvise(memory, bytes, MADV_DONTNEED);
	else if (!strcmp(how, "fixed"))
		map(memory, MAP_FIXED);
	else if (!strcmp(how, "brk"))
		brk(memory);
	else if (!strcmp(how, "malloc"))
		free(memory);
}

static char *next(const char *how, char *memory)
{
	char *place;

	if (!strcmp(how, "malloc"))
		return malloc(bytes);
	if (!strcmp(how, "brk")) {
		place = sbrk(bytes);
		return place == (char *)-1 ? NULL : place;
	}
	if (!strcmp(how, "move") && memory) {
		place = map(NULL, 0);
		return mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	}
	if (!memory || !strcmp(how, "munmap") || !strcmp(how, "never"))
		return map(NULL, 0);
	return memory;
}

int main(int argc, char **argv)
{
	char *memory = NULL;
	long rounds;

	if (argc != 4)
		return 2;
	bytes = atol(argv[2]) * sysconf(_SC_PAGESIZE);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (rounds = atol(argv[3]); rounds; rounds--) {
		memory = next(argv[1], memory);
		if (!memory)
			return 1;
		touch(memory);
		give_back(argv[1], memory);
	}
	return 0;
}
