// SPDX-License-Identifier: GPL-2.0-only
/* Faulting threads, and changes to their mappings. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define THREADS 4
#define TOUCHES 128

struct share {
	pthread_t thread;
	const struct file *file;
	page_words map;
	uint64_t seed;
};

static void start_threads(struct share *shares, unsigned int nr, void *(*run)(void *),
			  const struct file *file, page_words map)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		shares[i] = (struct share){ .file = file,
					    .map = map,
					    .seed = random_below(UINT64_MAX) };
		if (pthread_create(&shares[i].thread, NULL, run, &shares[i]))
			wrong("cannot make a thread");
	}
}

static void join_threads(struct share *shares, unsigned int nr)
{
	while (nr--)
		pthread_join(shares[nr].thread, NULL);
}

static void check_any(const struct file *file, page_words map)
{
	size_t index = random_below(file->pages);

	check_page(file, page_at(map, index), index);
}

static void drop_some(const struct file *file, page_words map, int advice)
{
	size_t first = random_below(file->pages), count = 1 + random_below(file->pages - first);

	/* Some advice does not fit some mappings, so a refusal is acceptable. */
	madvise((void *)page_at(map, first), count * PAGE, advice);
}

static void *read_and_drop(void *argument)
{
	struct share *share = argument;
	unsigned int i;

	random_seed(share->seed);
	for (i = 0; i < TOUCHES; i++) {
		check_any(share->file, share->map);
		if (random_one_in(32))
			drop_some(share->file, share->map, MADV_DONTNEED);
	}
	return NULL;
}

void job_threads(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	struct share shares[THREADS];

	start_threads(shares, THREADS, read_and_drop, file, map);
	join_threads(shares, THREADS);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

static void *store_and_read(void *argument)
{
	struct share *share = argument;
	const struct file *file = share->file;
	unsigned int i;
	size_t index;

	random_seed(share->seed);
	for (i = 0; i < TOUCHES; i++) {
		index = random_below(file->pages);
		page_at(share->map, index)[random_below(WORDS)] = pattern(file, index) |
								  random_below(1 << 16);
		check_any(file, share->map);
		if (random_one_in(64))
			need(msync((void *)page_at(share->map, index), PAGE, MS_SYNC), "msync");
	}
	return NULL;
}

/* Stores to a private mapping persist, whatever happens to the file's pages. */
void job_write(const struct file *file)
{
	page_words map = map_file(file, PROT_READ | PROT_WRITE, MAP_SHARED);
	page_words own = map_file(file, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	struct share shares[2];
	size_t index;

	start_threads(shares, 2, store_and_read, file, map);
	for (index = 0; index < file->pages; index += 2)
		page_at(own, index)[0] = ~index;
	for (index = 0; index < file->pages; index++)
		if (index % 2)
			check_page(file, page_at(own, index), index);
		else if (page_at(own, index)[0] != ~index)
			wrong("private page %zu has lost what was stored", index);
	join_threads(shares, 2);
	need(munmap((void *)own, file->pages * PAGE), "munmap");
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

static void check_range(const struct file *file, page_words map, size_t first, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_page(file, page_at(map, i), first + i);
}

static page_words move(page_words map, size_t from, size_t to, int flags, page_words there)
{
	return need_map(mremap((void *)map, from * PAGE, to * PAGE, MREMAP_MAYMOVE | flags, there),
			"mremap");
}

/* The second half moves, shrinks, and grows again. */
void job_reshape(const struct file *file)
{
	size_t half = file->pages / 2, quarter = file->pages / 4;
	page_words map = map_file(file, PROT_READ, random_one_in(2) ? MAP_SHARED : MAP_PRIVATE);
	page_words room =
		need_map(mmap(NULL, half * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			 "mmap");
	page_words moved;

	if (random_one_in(2))
		check_range(file, map, 0, file->pages);
	moved = move(page_at(map, half), half, half, MREMAP_FIXED, room);
	check_range(file, moved, half, half);
	check_range(file, map, 0, half);
	moved = move(moved, half, quarter, 0, NULL);
	check_range(file, moved, half, quarter);
	moved = move(moved, quarter, half, 0, NULL);
	check_range(file, moved, half, half);
	need(munmap((void *)moved, half * PAGE), "munmap");
	need(munmap((void *)map, half * PAGE), "munmap");
}

static void protect_some(const struct file *file, page_words map, unsigned char *prots)
{
	static const unsigned char choices[] = { PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE };
	unsigned char prot = choices[random_below(sizeof(choices))];
	size_t first = random_below(file->pages);
	size_t count = 1 + random_below(random_one_in(4) ? file->pages - first : 1);

	need(mprotect((void *)page_at(map, first), count * PAGE, prot), "mprotect");
	memset(prots + first, prot, count);
}

void job_protect(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, random_one_in(2) ? MAP_SHARED : MAP_PRIVATE);
	unsigned char *prots = malloc(file->pages);
	unsigned int i;
	size_t index;

	memset(prots, PROT_READ, file->pages);
	for (i = 0; i < TOUCHES; i++) {
		protect_some(file, map, prots);
		index = random_below(file->pages);
		if (prots[index] & PROT_WRITE)
			page_at(map, index)[0] = pattern(file, index) | random_below(1 << 16);
		if (prots[index] & PROT_READ)
			check_page(file, page_at(map, index), index);
	}
	need(mprotect((void *)map, file->pages * PAGE, PROT_READ), "mprotect");
	check_range(file, map, 0, file->pages);
	free(prots);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

#define HOLE SIZE_MAX

/* Unmaps a range, or maps other pages from the file over it, or both. */
static void replace_some(const struct file *file, page_words map, size_t *indices)
{
	size_t at = random_below(file->pages), i;
	size_t count = 1 + random_below((file->pages - at) / 4 + 1);
	size_t first = random_below(file->pages - count + 1);

	count = count < file->pages - at ? count : file->pages - at;
	if (random_one_in(2)) {
		need(munmap((void *)page_at(map, at), count * PAGE), "munmap");
		for (i = 0; i < count; i++)
			indices[at + i] = HOLE;
	}
	if (random_one_in(4))
		return;
	need_map(mmap((void *)page_at(map, at), count * PAGE, PROT_READ, MAP_FIXED | MAP_SHARED,
		      file->fd, first * PAGE),
		 "mmap");
	for (i = 0; i < count; i++)
		indices[at + i] = first + i;
}

void job_unmap(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	size_t *indices = malloc(file->pages * sizeof(*indices));
	unsigned int i;
	size_t at;

	for (at = 0; at < file->pages; at++)
		indices[at] = at;
	for (i = 0; i < TOUCHES; i++) {
		if (random_one_in(4))
			replace_some(file, map, indices);
		at = random_below(file->pages);
		if (indices[at] != HOLE)
			check_page(file, page_at(map, at), indices[at]);
	}
	free(indices);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

static void *advise_at_random(void *argument)
{
	static const int advices[] = {
		MADV_DONTNEED,	    MADV_DONTNEED,	 MADV_WILLNEED, MADV_RANDOM,
		MADV_SEQUENTIAL,    MADV_NORMAL,	 MADV_COLD,	MADV_PAGEOUT,
		MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_DONTFORK, MADV_DOFORK,
		MADV_HUGEPAGE,	    MADV_NOHUGEPAGE,
	};
	struct share *share = argument;
	unsigned int i;

	random_seed(share->seed);
	for (i = 0; i < TOUCHES / 2; i++)
		drop_some(share->file, share->map,
			  advices[random_below(sizeof(advices) / sizeof(advices[0]))]);
	return NULL;
}

void job_advise(const struct file *file)
{
	page_words map =
		map_file(file, PROT_READ | PROT_WRITE, random_one_in(2) ? MAP_SHARED : MAP_PRIVATE);
	struct share shares[2];

	start_threads(shares, 1, advise_at_random, file, map);
	start_threads(shares + 1, 1, read_and_drop, file, map);
	join_threads(shares, 2);
	check_range(file, map, 0, file->pages);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

void job_populate(const struct file *file)
{
	int flags = random_one_in(2) ? MAP_SHARED : MAP_PRIVATE;
	page_words map = map_file(file, PROT_READ | (random_one_in(2) ? PROT_WRITE : 0),
				  flags | MAP_POPULATE);
	unsigned char *resident = malloc(file->pages);
	size_t half = file->pages / 2;

	check_range(file, map, 0, file->pages);
	drop_some(file, map, MADV_DONTNEED);
	need(mlock((void *)map, half * PAGE), "mlock");
	need(mincore((void *)map, half * PAGE, resident), "mincore");
	if (memchr(resident, 0, half))
		wrong("a page that is locked is not resident");
	if (syscall(SYS_mlock2, (void *)page_at(map, half), half * PAGE, MLOCK_ONFAULT))
		not_available("mlock2");
	check_range(file, map, 0, file->pages);
	need(munlock((void *)map, file->pages * PAGE), "munlock");
	free(resident);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}
