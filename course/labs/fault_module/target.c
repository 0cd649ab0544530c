// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that a submission watches: target FILE. It maps FILE, then obeys a line each of
 *
 *	touch FIRST COUNT	read a byte of each of these pages; prints their sum
 *	fork FIRST COUNT	the same in a child, which exits
 *	child			start a child that stays
 *	wake FIRST COUNT	touch in that child
 *	move			mremap to another address
 *	exit
 *
 * and prints the thread, the address of the mapping, and the sum.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static unsigned long sum_of(const unsigned char *map, unsigned long first, unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long page = first; page < first + count; page++)
		sum += ((const volatile unsigned char *)map)[page * PAGE];
	return sum;
}

static void in_child(const unsigned char *map, unsigned long first, unsigned long count)
{
	const pid_t child = fork();

	if (child < 0)
		err(1, "cannot fork");
	if (!child) {
		printf("%d %p %lu\n", getpid(), map, sum_of(map, first, count));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static unsigned char *move(unsigned char *map, size_t bytes)
{
	unsigned char *there = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (there == MAP_FAILED)
		err(1, "cannot reserve addresses");
	map = mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, there);
	if (map == MAP_FAILED)
		err(1, "cannot move the mapping");
	return map;
}

/* Obeys one line in the process or in the child that stays. */
static unsigned char *obey(unsigned char *map, size_t bytes, const char *line)
{
	static int to_child = -1;
	unsigned long first, count;
	int ends[2];

	if (sscanf(line, "fork %lu %lu", &first, &count) == 2) {
		in_child(map, first, count);
		return map;
	}
	if (sscanf(line, "wake %lu %lu", &first, &count) == 2) {
		dprintf(to_child, "touch %lu %lu\n", first, count);
		return map;
	}
	if (!strcmp(line, "child\n")) {
		if (pipe(ends))
			err(1, "cannot make a pipe");
		to_child = ends[1];
		if (!fork()) {
			close(ends[1]);
			dup2(ends[0], 0);
			return map; /* its parent answers */
		}
	}
	if (!strcmp(line, "move\n"))
		map = move(map, bytes);
	if (sscanf(line, "touch %lu %lu", &first, &count) != 2)
		count = 0;
	printf("%d %p %lu\n", getpid(), map, count ? sum_of(map, first, count) : 0);
	fflush(stdout);
	return map;
}

int main(int argc, char **argv)
{
	struct stat status;
	unsigned char *map;
	char line[80];
	int fd;

	fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &status))
		err(1, "cannot open the file");
	map = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err(1, "cannot map the file");
	setvbuf(stdin, NULL, _IONBF, 0); /* the child that stays reads another input */
	map = obey(map, status.st_size, "");
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "exit\n"))
		map = obey(map, status.st_size, line);
	return 0;
}
