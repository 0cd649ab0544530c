// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: removed_pages anon|FILE COMMAND|pageout|fadvise: touches each page, has the pages removed,
 * and touches each of them again. COMMAND is for the shell. Prints majors=N of the second round.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANON_BYTES (12UL << 20)

static int file = -1;
static size_t bytes = ANON_BYTES;

static char *map(void)
{
	char *memory = mmap(NULL, bytes, PROT_READ | (file < 0 ? PROT_WRITE : 0),
			    file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

static long majors(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

static void touch(volatile char *memory, int write)
{
	size_t at;

	for (at = 0; at < bytes; at += sysconf(_SC_PAGESIZE)) {
		if (write)
			memory[at] = 1;
		else
			(void)memory[at];
	}
}

int main(int argc, char **argv)
{
	struct stat stat;
	char *memory;
	long before;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "anon")) {
		file = open(argv[1], O_RDONLY);
		if (file < 0 || fstat(file, &stat))
			return 1;
		bytes = stat.st_size;
	}
	memory = map();
	touch(memory, file < 0);
	/* The kernel keeps mapped pages when a call drops a file's pages. */
	if (file >= 0)
		munmap(memory, bytes);
	if (!strcmp(argv[2], "pageout"))
		madvise(memory, bytes, MADV_PAGEOUT);
	else if (!strcmp(argv[2], "fadvise"))
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	else if (system(argv[2]))
		return 1;
	if (file >= 0)
		memory = map();
	before = majors();
	touch(memory, 0);
	printf("majors=%ld\n", majors() - before);
	return 0;
}
