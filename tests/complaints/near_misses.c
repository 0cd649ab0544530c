// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose faults look alike in a recording by perf, while the kernel did different things.
 *
 *	near_misses unwritten PAGES	read each page of new memory: the zero page
 *	near_misses lookups NUMBER MIB	the same in random order, in so much memory
 *	near_misses again TIMES PAGES	map memory, write each page, unmap it
 *	near_misses grow PAGES		copy an array to a larger mapping, again and again
 *	near_misses drop TIMES PAGES	write each page, then MADV_DONTNEED
 *	near_misses start PAGES MS	write each page, then compute for so long
 *	near_misses failed TIMES PAGES NUMBER	"drop", and this many accesses end in SIGSEGV
 *	near_misses windows TIMES FILE	map each page of the file, read it, unmap it
 *	near_misses files NUMBER FOLDER	the same for the files 0 to 999, which have one page each
 *	near_misses aliases TIMES FILE	map the file, read each page, keep the mapping
 *	near_misses load TIMES FILE	map the file, read each page, unmap it; then write each page
 *					of one new block of memory at these addresses
 *	near_misses append MIB FILE	write new pages at the end of the file, one MiB a mapping
 *	near_misses sync TIMES FILE	write each page of a mapping, then write the file to the disk
 *	near_misses churn TIMES PAGES	"again" at a low priority, with some work each time
 *	near_misses fork TIMES PAGES	"again" after a fork, and copies of a few shared pages
 *	near_misses pageout TIMES PAGES	write each page, then MADV_PAGEOUT
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "complaint.h"

#define SHARED (12 * MIB)

static sigjmp_buf after_access;

static char *new_memory(size_t pages)
{
	return map_small_pages(pages * PAGE);
}

static void read_pages(const volatile char *byte, size_t pages)
{
	for (; pages; pages--, byte += PAGE)
		(void)*byte;
}

static void write_pages(volatile char *byte, size_t pages)
{
	for (; pages; pages--, byte += PAGE)
		*byte = 1;
}

static void look_up(int number, size_t bytes)
{
	const char *table = map_small_pages(bytes);
	uint64_t seed = 1;

	while (number--)
		read_pages(table + next_random(&seed) * PAGE % bytes, 1);
}

static void map_again(int times, size_t pages)
{
	for (; times; times--) {
		char *map = new_memory(pages);

		write_pages(map, pages);
		munmap(map, pages * PAGE);
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
		memcpy(larger, array, size * PAGE);
		munmap(array, size * PAGE);
		write_pages(larger + size * PAGE, more - size);
		array = larger;
	}
}

static void drop(int times, size_t pages)
{
	char *map = new_memory(pages);

	for (; times; times--) {
		write_pages(map, pages);
		madvise(map, pages * PAGE, MADV_DONTNEED);
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
	volatile char *map = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int left = number;

	signal(SIGSEGV, on_signal);
	while (left--)
		if (!sigsetjmp(after_access, 1))
			(void)*map;
}

static void map_page(const char *path, off_t page)
{
	const int fd = open(path, O_RDONLY);
	char *map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, page * PAGE);

	if (map == MAP_FAILED)
		err(1, "%s", path);
	read_pages(map, 1);
	munmap(map, PAGE);
	close(fd);
}

static size_t pages_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		err(1, "%s", path);
	return st.st_size / PAGE;
}

static void map_files(int number, const char *folder)
{
	char path[4096];

	while (number--) {
		snprintf(path, sizeof(path), "%s/%d", folder, number % 1000);
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
		char *map = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);

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

	munmap(range, times * pages * PAGE);
	for (page = 0; page < times * pages; page++) {
		map = mmap(range + page * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
			   page % pages * PAGE);
		if (map == MAP_FAILED)
			err(1, "%s", path);
		read_pages(map, 1);
	}
	munmap(range, times * pages * PAGE);
	write_pages(new_memory(times * pages), times * pages);
}

static void append(int mib, const char *path)
{
	const size_t bytes = 1 << 20;
	const int fd = open(path, O_RDWR | O_CREAT, 0600);
	int i;

	for (i = 0; i < mib; i++) {
		char *map;

		if (ftruncate(fd, (i + 1) * bytes))
			err(1, "%s", path);
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, i * bytes);
		if (map == MAP_FAILED)
			err(1, "%s", path);
		write_pages(map, bytes / PAGE);
		munmap(map, bytes);
	}
}

/* sync_file_range() protects the pages, and needs no journal. */
static void write_back(int times, const char *path)
{
	const int fd = open(path, O_RDWR);
	size_t bytes;
	char *map = map_file(path, PROT_READ | PROT_WRITE, MAP_SHARED, &bytes);

	for (; times; times--) {
		write_pages(map, bytes / PAGE);
		if (sync_file_range(fd, 0, bytes, SYNC_FILE_RANGE_WRITE) ||
		    sync_file_range(fd, 0, bytes, SYNC_FILE_RANGE_WAIT_AFTER))
			err(1, "cannot write %s", path);
	}
}

static void churn(int times, size_t pages)
{
	write_pages(new_memory(3000), 3000);
	if (nice(9) < 0)
		err(1, "nice");
	for (; times; times--) {
		map_again(1, pages);
		compute(1);
	}
}

static void fork_and_map(int times, size_t pages)
{
	char *shared = map_small_pages(SHARED);
	pid_t child;
	int i;

	write_pages(shared, SHARED / PAGE);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		pause();
		_exit(0);
	}
	for (i = 0; i < times; i++) {
		map_again(1, pages);
		write_pages(shared + SHARED / PAGE * i / times * PAGE, SHARED / PAGE / times);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Pages that are all different, and that do not compress to nothing. */
static void page_out(int times, size_t pages)
{
	char *map = new_memory(pages);
	uint64_t seed = 1;
	size_t i;

	for (i = 0; i < pages * PAGE; i += sizeof(uint32_t))
		*(uint32_t *)(map + i) = next_random(&seed);
	for (; times; times--) {
		if (madvise(map, pages * PAGE, MADV_PAGEOUT))
			err(1, "MADV_PAGEOUT");
		write_pages(map, pages);
	}
}

static int run(const char *what, char **words)
{
	const int first = atoi(words[0]), second = words[1] ? atoi(words[1]) : 0;

	if (!strcmp(what, "unwritten")) {
		read_pages(new_memory(first), first);
	} else if (!strcmp(what, "lookups") && second) {
		look_up(first, second * MIB);
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
	} else if (!strcmp(what, "sync") && words[1]) {
		write_back(first, words[1]);
	} else if (!strcmp(what, "churn") && second) {
		churn(first, second);
	} else if (!strcmp(what, "fork") && second) {
		fork_and_map(first, second);
	} else if (!strcmp(what, "pageout") && second) {
		page_out(first, second);
	} else {
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 2 ? run(argv[1], argv + 2) : 2;
}
