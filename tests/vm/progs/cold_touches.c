// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a byte of pages of a file: cold_touches FILE PATTERN [ADVICE [SECONDS]]. ADVICE is of
 * madvise(2), or none. The program then sleeps so long.
 *
 *	sequence	page by page
 *	streams		four quarters of the file, page by page in turn
 *	stride		every 20th page
 *	random		1500 pages
 *	runs		from 400 pages, 1 to 24 pages on
 *	backward	a quarter of the file, from its end to the start
 *	lookups		700 times a page of the last 16, one of 256 in the middle, one in the first half
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile char *map;
static size_t pages, page_bytes;

static void touch(size_t page)
{
	if (page < pages)
		(void)map[page * page_bytes];
}

/* xorshift64*: the same pages in each run. */
static size_t draw(size_t below)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 2685821657736338717 >> 11) % below;
}

static void touch_runs(void)
{
	size_t i, page, first;

	for (i = 0; i < 400; i++) {
		first = draw(pages);
		for (page = first; page < first + 1 + first % 24; page++)
			touch(page);
	}
}

static void touch_lookups(void)
{
	size_t i;

	for (i = 0; i < 700; i++) {
		touch(pages - 1 - draw(16));
		touch(pages / 2 + draw(256));
		touch(draw(pages / 2));
	}
}

static void touch_all(const char *pattern)
{
	size_t i;

	if (!strcmp(pattern, "sequence"))
		for (i = 0; i < pages; i++)
			touch(i);
	else if (!strcmp(pattern, "streams"))
		for (i = 0; i < pages / 4 * 4; i++)
			touch(i / 4 + pages / 4 * (i % 4));
	else if (!strcmp(pattern, "stride"))
		for (i = 0; i < pages; i += 20)
			touch(i);
	else if (!strcmp(pattern, "random"))
		for (i = 0; i < 1500; i++)
			touch(draw(pages));
	else if (!strcmp(pattern, "runs"))
		touch_runs();
	else if (!strcmp(pattern, "backward"))
		for (i = pages / 4; i--;)
			touch(i);
	else if (!strcmp(pattern, "lookups"))
		touch_lookups();
	else
		errx(2, "no pattern '%s'", pattern);
}

static void map_file(const char *path)
{
	const int fd = open(path, O_RDONLY);
	struct stat file;

	page_bytes = getpagesize();
	if (fd < 0 || fstat(fd, &file))
		err(1, "%s", path);
	pages = file.st_size / page_bytes;
	map = mmap(NULL, file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	close(fd);
}

static void advise(const char *advice)
{
	const int number = !strcmp(advice, "MADV_RANDOM") ? MADV_RANDOM : MADV_SEQUENTIAL;

	if (strcmp(advice, "none") && madvise((void *)map, pages * page_bytes, number))
		err(1, "madvise");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: cold_touches FILE PATTERN [ADVICE [SECONDS]]");
	map_file(argv[1]);
	if (argc > 3)
		advise(argv[3]);
	touch_all(argv[2]);
	if (argc > 4)
		sleep(atoi(argv[4]));
	return 0;
}
