// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads single pages of a mapped file, without read-ahead: accesses PATTERN NUMBER FILE.
 *
 *	random		each page is as likely
 *	loop		page by page, from the start again after the last one
 *	hot-and-cold	four of five accesses go to the first fifth of the file
 *	skewed		the more likely the nearer to the start
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* xorshift64*: the same pages in each run. */
static double next_unit(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)(state * 2685821657736338717 >> 11) / (1ULL << 53);
}

static size_t next_page(const char *pattern, size_t i, size_t pages)
{
	const double choice = next_unit(), unit = next_unit();

	if (!strcmp(pattern, "loop"))
		return i % pages;
	if (!strcmp(pattern, "skewed"))
		return pages * unit * unit * unit;
	if (!strcmp(pattern, "random"))
		return pages * unit;
	if (strcmp(pattern, "hot-and-cold"))
		errx(2, "no pattern '%s'", pattern);
	return choice < 0.8 ? pages / 5 * unit : pages / 5 + (pages - pages / 5) * unit;
}

int main(int argc, char **argv)
{
	const size_t page_bytes = sysconf(_SC_PAGESIZE);
	const int fd = argc == 4 ? open(argv[3], O_RDONLY) : -1;
	struct rusage usage;
	struct stat stat;
	volatile char *memory;
	size_t i;

	if (fd < 0 || fstat(fd, &stat))
		err(1, "%s", argc == 4 ? argv[3] : "three arguments");
	memory = mmap(NULL, stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED || madvise((void *)memory, stat.st_size, MADV_RANDOM))
		err(1, "%s", argv[3]);
	for (i = 0; i < strtoul(argv[2], NULL, 10); i++)
		(void)memory[page_bytes * next_page(argv[1], i, stat.st_size / page_bytes)];
	getrusage(RUSAGE_SELF, &usage);
	printf("majors=%ld\n", usage.ru_majflt);
	return 0;
}
