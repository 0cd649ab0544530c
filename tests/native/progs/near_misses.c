// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose faults look alike in a recording by perf, while the kernel did different things.
 *
 *	near_misses unwritten PAGES	read each page of new memory: the zero page
 *	near_misses again TIMES PAGES	map memory, write each page, unmap it
 *	near_misses grow PAGES		copy an array to a larger mapping, again and again
 *	near_misses drop TIMES PAGES	write each page, then MADV_DONTNEED
 *	near_misses start PAGES MS	write each page, then compute for so long
 *	near_misses failed TIMES PAGES NUMBER	"drop", and this many accesses end in SIGSEGV
 *	near_misses windows TIMES FILE	map each page of the file, read it, unmap it
 *	near_misses files NUMBER FOLDER	the same for the first page of the files 0, 1, …
 *	near_misses aliases TIMES FILE	map the file, read each page, keep the mapping
 *	near_misses load TIMES FILE	map the file, read each page, unmap it; then write each page
 *					of one new block of memory at these addresses
 *	near_misses append MIB FILE	write new pages at the end of the file, one MiB a mapping
 */
#include <err.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static size_t page_bytes;
static sigjmp_buf after_access;

static char *new_memory(size_t pages)
{
	char *map = mmap(NULL, pages * page_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		err(1, "mmap");
	madvise(map, pages * page_bytes, MADV_NOHUGEPAGE);
	return map;
}

static void read_pages(const volatile char *byte, size_t pages)
{
	for (; pages; pages--, byte += page_bytes)
		(void)*byte;
}

static void write_pages(volatile char *byte, size_t pages)
{
	for (; pages; pages--, byte += page_bytes)
		*byte = 1;
}

static void map_again(int times, size_t pages)
{
	for (; times; times--) {
		char *map = new_memory(pages);

		write_pages(map, pages);
		munmap(map, pages * page_bytes);
	}
}

static void grow(size_t pages)
{
	size_t size = pages / 16, more;
	char *array = new_memory(size), *larger;

	write_pages(array, size);
	for (; size < pages; size = more) {
		more = size + size / 8 + 1;
		larger = new_memory(more);
		memcpy(larger, array, size * page_bytes);
		munmap(array, size * page_bytes);
		write_pages(larger + size * page_bytes, more - size);
		array = larger;
	}
}

static void drop(int times, size_t pages)
{
	char *map = new_memory(pages);

	for (; times; times--) {
		write_pages(map, pages);
		madvise(map, pages * page_bytes, MADV_DONTNEED);
	}
}

static void compute(int ms)
{
	const clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		;
}

static void on_signal(int number)
{
	(void)number;
	siglongjmp(after_access, 1);
}

static void fail(int number)
{
	volatile char *map = mmap(NULL, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int left = number;

	signal(SIGSEGV, on_signal);
	while (left--)
		if (!sigsetjmp(after_access, 1))
			(void)*map;
}

static void map_page(const char *path, off_t page)
{
	const int fd = open(path, O_RDONLY);
	char *map = mmap(NULL, page_bytes, PROT_READ, MAP_PRIVATE, fd, page * page_bytes);

	if (map == MAP_FAILED)
		err(1, "%s", path);
	read_pages(map, 1);
	munmap(map, page_bytes);
	close(fd);
}

static size_t pages_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		err(1, "%s", path);
	return st.st_size / page_bytes;
}

static void map_files(int number, const char *folder)
{
	char path[4096];

	while (number--) {
		snprintf(path, sizeof(path), "%s/%d", folder, number);
		map_page(path, 0);
	}
}

static void map_windows(int times, const char *path)
{
	const size_t pages = pages_of(path);
	size_t page;

	for (; times; times--)
		for (page = 0; page < pages; page++)
			map_page(path, page);
}

static void map_aliases(int times, const char *path)
{
	const size_t pages = pages_of(path);
	const int fd = open(path, O_RDONLY);

	for (; times; times--) {
		char *map = mmap(NULL, pages * page_bytes, PROT_READ, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED)
			err(1, "%s", path);
		read_pages(map, pages);
	}
}

static void load(int times, const char *path)
{
	const size_t pages = pages_of(path);
	const int fd = open(path, O_RDONLY);
	char *map = MAP_FAILED;
	size_t page;

	/* Mappings of single pages, so that each page is a fault. */
	char *range = new_memory(times * pages);

	munmap(range, times * pages * page_bytes);
	for (page = 0; page < times * pages; page++) {
		map = mmap(range + page * page_bytes, page_bytes, PROT_READ, MAP_SHARED | MAP_FIXED,
			   fd, page % pages * page_bytes);
		if (map == MAP_FAILED)
			err(1, "%s", path);
		read_pages(map, 1);
	}
	munmap(range, times * pages * page_bytes);
	write_pages(new_memory(times * pages), times * pages);
}

static void append(int mib, const char *path)
{
	const size_t bytes = 1 << 20;
	const int fd = open(path, O_RDWR);
	int i;

	for (i = 0; i < mib; i++) {
		char *map;

		if (ftruncate(fd, (i + 1) * bytes))
			err(1, "%s", path);
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, i * bytes);
		if (map == MAP_FAILED)
			err(1, "%s", path);
		write_pages(map, bytes / page_bytes);
		munmap(map, bytes);
	}
}

static int run(const char *what, char **words)
{
	const int first = atoi(words[0]), second = words[1] ? atoi(words[1]) : 0;

	if (!strcmp(what, "unwritten")) {
		read_pages(new_memory(first), first);
	} else if (!strcmp(what, "again") && second) {
		map_again(first, second);
	} else if (!strcmp(what, "grow")) {
		grow(first);
	} else if (!strcmp(what, "drop") && second) {
		drop(first, second);
	} else if (!strcmp(what, "start") && second) {
		write_pages(new_memory(first), first);
		compute(second);
	} else if (!strcmp(what, "failed") && second && words[2]) {
		drop(first, second);
		fail(atoi(words[2]));
	} else if (!strcmp(what, "windows") && words[1]) {
		map_windows(first, words[1]);
	} else if (!strcmp(what, "files") && words[1]) {
		map_files(first, words[1]);
	} else if (!strcmp(what, "aliases") && words[1]) {
		map_aliases(first, words[1]);
	} else if (!strcmp(what, "load") && words[1]) {
		load(first, words[1]);
	} else if (!strcmp(what, "append") && words[1]) {
		append(first, words[1]);
	} else {
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	page_bytes = sysconf(_SC_PAGESIZE);
	return argc > 2 ? run(argv[1], argv + 2) : 2;
}
