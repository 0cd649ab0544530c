// SPDX-License-Identifier: GPL-2.0-only
/* The reference of lab a: walk FILE PATTERN SEED. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PAGE 4096

static void shuffle(size_t *order, size_t count)
{
	for (size_t i = count - 1; i > 0; i--) {
		const size_t other = (size_t)(drand48() * (i + 1)), page = order[i];

		order[i] = order[other];
		order[other] = page;
	}
}

static void choose_order(size_t *order, size_t pages, const char *pattern, long seed)
{
	size_t step = 1, count = 0;

	if (!strncmp(pattern, "stride:", 7))
		step = strtoul(pattern + 7, NULL, 10);
	for (size_t first = 0; first < step; first++)
		for (size_t page = first; page < pages; page += step)
			order[count++] = page;
	if (!strcmp(pattern, "random")) {
		srand48(seed);
		shuffle(order, pages);
	}
}

int main(int argc, char **argv)
{
	struct rusage before, after;
	const volatile char *map;
	struct stat status;
	size_t pages, *order;
	int fd;

	if (argc != 4)
		errx(2, "usage: walk FILE PATTERN SEED");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &status))
		err(1, "cannot open %s", argv[1]);
	pages = status.st_size / PAGE;
	map = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	order = calloc(pages, sizeof(*order));
	if (map == MAP_FAILED || !order)
		err(1, "cannot map %s", argv[1]);
	choose_order(order, pages, argv[2], atol(argv[3]));
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < pages; i++)
		(void)map[order[i] * PAGE];
	getrusage(RUSAGE_SELF, &after);
	printf("%ld %ld\n", after.ru_majflt - before.ru_majflt, after.ru_minflt - before.ru_minflt);
	return 0;
}
