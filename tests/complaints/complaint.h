/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the programs in tests/complaints: memory that is mapped or the program ends, and
 * command line words. Each program prints one line at the end. A figure in this line is for the
 * reader. No test reads it.
 */
#ifndef PFSTAT_TESTS_COMPLAINT_H
#define PFSTAT_TESTS_COMPLAINT_H

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB  (1UL << 20)

static inline char *map_memory(size_t bytes, int flags)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	return memory;
}

/* Private memory with 4 KiB pages, even if the kernel prefers huge pages. */
static inline char *map_small_pages(size_t bytes)
{
	char *memory = map_memory(bytes, MAP_PRIVATE);

	/* The kernel may have no huge pages at all. */
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

/* Maps a whole file, with protection and flags as for mmap(). */
static inline char *map_file(const char *path, int protection, int flags, size_t *bytes)
{
	const int mode = protection & PROT_WRITE && flags & MAP_SHARED ? O_RDWR : O_RDONLY;
	const int fd = open(path, mode);
	struct stat status;
	char *memory;

	if (fd < 0 || fstat(fd, &status))
		err(1, "%s", path);
	memory = mmap(NULL, status.st_size, protection, flags, fd, 0);
	if (memory == MAP_FAILED)
		err(1, "cannot map %s", path);
	close(fd);
	*bytes = status.st_size;
	return memory;
}

/* A random-looking sequence, the same in each run. */
static inline uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005UL + 1442695040888963407UL;
	return *seed >> 33;
}

static inline const char *word_of(int argc, char **argv, int number, const char *otherwise)
{
	return argc > number ? argv[number] : otherwise;
}

static inline unsigned long number_of(int argc, char **argv, int number, unsigned long otherwise)
{
	return argc > number ? strtoul(argv[number], NULL, 10) : otherwise;
}

static inline bool is_word(int argc, char **argv, int number, const char *word)
{
	return argc > number && !strcmp(argv[number], word);
}

#endif
