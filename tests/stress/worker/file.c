// SPDX-License-Identifier: GPL-2.0-only
/* Changes to the file while it is mapped, and mapped files as system call buffers. */
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker.h"

#define CUTS  16
#define READS 256

static __thread sigjmp_buf behind_the_end;

static void on_sigbus(int number)
{
	(void)number;
	siglongjmp(behind_the_end, 1);
}

/* Reads a word of the page, or 0 if it is cut off, in a hole, or not yet refilled. */
static void read_what_is_there(const struct file *file, page_words map)
{
	size_t index = random_below(file->pages);
	uint64_t word;

	if (sigsetjmp(behind_the_end, 1))
		return;
	word = page_at(map, index)[random_below(WORDS)];
	if (word)
		check_word(file, word, index);
}

struct reader {
	const struct file *file;
	page_words map;
	uint64_t seed;
};

static void *read_much(void *argument)
{
	struct reader *reader = argument;
	unsigned int i;

	random_seed(reader->seed);
	for (i = 0; i < READS; i++)
		read_what_is_there(reader->file, reader->map);
	return NULL;
}

/* Cuts at whole words: each word is there or 0. */
static void cut(const struct file *file)
{
	size_t words = file->pages * WORDS, first = random_below(words);
	off_t from = first * sizeof(uint64_t);

	if (random_one_in(3)) {
		need(fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from,
			       (1 + random_below(words - first)) * sizeof(uint64_t)),
		     "fallocate");
		return;
	}
	need(ftruncate(file->fd, from), "ftruncate");
	need(ftruncate(file->fd, file->pages * PAGE), "ftruncate");
}

/* Two threads read while the file is truncated, punched and refilled. */
void job_truncate(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, random_one_in(2) ? MAP_SHARED : MAP_PRIVATE);
	struct sigaction action = { .sa_handler = on_sigbus }, old;
	struct reader readers[2];
	pthread_t threads[2];
	unsigned int i;

	need(sigaction(SIGBUS, &action, &old), "sigaction");
	for (i = 0; i < 2; i++) {
		readers[i] = (struct reader){ file, map, random_below(UINT64_MAX) };
		if (pthread_create(&threads[i], NULL, read_much, &readers[i]))
			wrong("cannot make a thread");
	}
	for (i = 0; i < CUTS; i++) {
		cut(file);
		if (random_one_in(4))
			file_fill(file, 0, file->pages);
		read_what_is_there(file, map);
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
	need(sigaction(SIGBUS, &old, NULL), "sigaction");

	file_fill(file, 0, file->pages);
	map = map_file(file, PROT_READ, MAP_SHARED);
	for (i = 0; i < file->pages; i++)
		check_page(file, page_at(map, i), i);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

/* O_DIRECT if the file system and the disk support it. */
static int open_beside(const struct file *file, bool direct)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s.beside", file->path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (direct ? O_DIRECT : 0), 0600);
	if (fd < 0 && direct)
		not_available("O_DIRECT");
	return fd;
}

#define BLOCK 8 /* pages in each call */

static void write_from_map(page_words map, int fd, size_t first)
{
	ssize_t done;

	/* The pages are not mapped: the kernel faults them in for the device. */
	madvise((void *)page_at(map, first), BLOCK * PAGE, MADV_DONTNEED);
	done = pwrite(fd, (void *)page_at(map, first), BLOCK * PAGE, first * PAGE);
	if (need(done, "pwrite from a mapping") != (ssize_t)(BLOCK * PAGE))
		wrong("%zd bytes of %lu were written from a mapping", done, BLOCK * PAGE);
}

static void read_into_map(const struct file *file, page_words own, int fd, size_t first)
{
	size_t to = random_below(file->pages - BLOCK), i;
	ssize_t done = pread(fd, (void *)page_at(own, to), BLOCK * PAGE, first * PAGE);

	if (need(done, "pread into a mapping") != (ssize_t)(BLOCK * PAGE))
		wrong("%zd bytes of %lu were read into a mapping", done, BLOCK * PAGE);
	for (i = 0; i < BLOCK; i++)
		check_page(file, page_at(own, to + i), first + i);
}

/* From one hooked mapping into a file, and from the file into another mapping. */
void job_direct(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	page_words own = map_file(file, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int fd = open_beside(file, !random_one_in(4));
	unsigned int i;
	size_t first;

	if (fd < 0)
		fd = need(open_beside(file, false), "open");
	for (i = 0; i < 16; i++) {
		first = random_below(file->pages / BLOCK) * BLOCK;
		write_from_map(map, fd, first);
		read_into_map(file, own, fd, first);
	}
	close(fd);
	need(munmap((void *)own, file->pages * PAGE), "munmap");
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

/* Twice the cgroup limit (set by the harness), in addition to the file. */
void job_swap(const struct file *file)
{
	size_t pages = file->pages * 24, index;
	page_words memory = need_map(mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
				     "mmap");
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	unsigned int i;

	for (index = 0; index < pages; index++)
		page_at(memory, index)[0] = ~index;
	for (i = 0; i < 2 * READS; i++) {
		index = random_below(pages);
		if (page_at(memory, index)[0] != ~index)
			wrong("page %zu of memory came back as another", index);
		index = random_below(file->pages);
		check_page(file, page_at(map, index), index);
	}
	need(munmap((void *)map, file->pages * PAGE), "munmap");
	need(munmap((void *)memory, pages * PAGE), "munmap");
}
