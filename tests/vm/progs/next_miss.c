// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touches pages of a file whose pages are not in memory, and prints what each touch reads.
 *
 *	next_miss FILE PAGE...
 *
 * Prints a line per touch: "PAGE: FIRST-LAST ...", the pages that are new in the page cache.
 * Documentation/internals/next_miss.rst shows what is wrong in "100 102 1000 104".
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_PAGES 4096

static unsigned char before[MOST_PAGES + 1], now[MOST_PAGES + 1];

/* The page behind the last one counts as not in memory. */
static void print_new_pages(long nr)
{
	long page, first;

	for (page = 0; page < nr; page++) {
		for (first = page; now[page] & ~before[page] & 1; page++)
			;
		if (page > first)
			printf(" %ld-%ld", first, page - 1);
	}
	for (page = 0; page < nr; page++)
		before[page] = now[page];
	printf("\n");
}

int main(int argc, char **argv)
{
	const int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	const long page_bytes = sysconf(_SC_PAGESIZE);
	long nr = lseek(fd, 0, SEEK_END) / page_bytes;
	volatile char *map;
	int i;

	if (nr <= 0)
		errx(2, "usage: next_miss FILE PAGE...");
	if (nr > MOST_PAGES)
		nr = MOST_PAGES;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	map = mmap(NULL, nr * page_bytes, PROT_READ, MAP_SHARED, fd, 0);
	for (i = 2; i < argc; i++) {
		(void)map[atol(argv[i]) * page_bytes];
		usleep(100000); /* read-ahead may go on after the fault */
		if (mincore((void *)map, nr * page_bytes, now))
			err(2, "mincore");
		printf("%s:", argv[i]);
		print_new_pages(nr);
	}
	return 0;
}
