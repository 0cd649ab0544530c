// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks up records of a table in a file: lookups TABLE SEED. Prints a sum that depends on each
 * record found, and not on their order. The grader uses its own copy of this file.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan.h"

#define CLUSTERS   64 /* the lookups are near each other in so many places */
#define NEIGHBOURS 12 /* in each of them, and so many records apart at most: */
#define SPREAD	   48

/* xorshift64*: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators" */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void shuffle(size_t *numbers, size_t count, uint64_t *state)
{
	for (size_t i = count - 1; i > 0; i--) {
		const size_t other = next_random(state) % (i + 1), number = numbers[i];

		numbers[i] = numbers[other];
		numbers[other] = number;
	}
}

static void choose(size_t *lookups, size_t records, uint64_t *state)
{
	for (size_t cluster = 0; cluster < CLUSTERS; cluster++) {
		const size_t start = next_random(state) % (records - SPREAD);

		for (size_t i = 0; i < NEIGHBOURS; i++)
			lookups[cluster * NEIGHBOURS + i] = start + next_random(state) % SPREAD;
	}
	shuffle(lookups, CLUSTERS * NEIGHBOURS, state);
}

static uint64_t look_up(const unsigned char *table, size_t number)
{
	const uint64_t *record = (const uint64_t *)(table + number * PLAN_RECORD);

	return (record[0] ^ record[PLAN_RECORD / sizeof(*record) - 1]) * (number + 1);
}

int main(int argc, char **argv)
{
	size_t lookups[CLUSTERS * NEIGHBOURS];
	struct stat status;
	uint64_t state, sum = 0;
	void *table;
	int fd;

	if (argc != 3 || strtoull(argv[2], NULL, 10) == 0)
		errx(2, "usage: lookups TABLE SEED (not 0)");
	state = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &status))
		err(1, "cannot open %s", argv[1]);
	table = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED)
		err(1, "cannot map %s", argv[1]);
	choose(lookups, status.st_size / PLAN_RECORD, &state);
	plan(fd, table, status.st_size, lookups, CLUSTERS * NEIGHBOURS);
	for (size_t i = 0; i < CLUSTERS * NEIGHBOURS; i++)
		sum += look_up(table, lookups[i]);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
