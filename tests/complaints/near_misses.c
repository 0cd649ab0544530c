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
 *	near_misses children NUMBER FILE	map the file; each child reads each page
 *	near_misses shared TIMES PAGES	map shared memory that has all its pages, read it, unmap it
 *	near_misses fill NUMBER PAGES	fill the pages of each child with process_vm_writev()
 *	near_misses holes MIB FILE	read each page of a new file without data, MADV_RANDOM
 *	near_misses punch TIMES PAGES	write each page of shared memory; a child punches a hole into it
 *	near_misses away TIMES PAGES	write each page, then mremap(MREMAP_DONTUNMAP)
 *	near_misses dropped TIMES FILE	map the file, read each page, unmap it, POSIX_FADV_DONTNEED
 *	near_misses direct TIMES FILE	read each page of a mapping; a child writes the file, O_DIRECT
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
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

static void fork_readers(int number, const char *path)
{
	size_t bytes;
	const char *map = map_file(path, PROT_READ, MAP_SHARED, &bytes);
	pid_t child;

	for (; number; number--) {
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (!child) {
			read_pages(map, bytes / PAGE);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void map_shared(int times, size_t pages)
{
	const int fd = memfd_create("near", 0);
	const int all = MAP_SHARED | MAP_POPULATE;
	char *map;

	if (fd < 0 || ftruncate(fd, pages * PAGE))
		err(1, "memfd");
	if (mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, all, fd, 0) == MAP_FAILED)
		err(1, "mmap");
	for (; times; times--) {
		map = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			err(1, "mmap");
		read_pages(map, pages);
		munmap(map, pages * PAGE);
	}
}

/* The kernel takes the faults of the children's pages in the call, and perf has no event for them. */
static void fill_children(int times, size_t pages)
{
	char *map = new_memory(pages), *data = new_memory(pages);
	const struct iovec from = { data, pages * PAGE }, to = { map, pages * PAGE };
	pid_t child;

	write_pages(data, pages);
	for (; times; times--) {
		child = fork();
		if (!child)
			pause();
		if (child < 0 || process_vm_writev(child, &from, 1, &to, 1, 0) < 0)
			err(1, "process_vm_writev");
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		drop(1, pages / 4);
	}
}

static void read_holes(size_t bytes, const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT, 0600);
	char *map;

	if (fd < 0 || ftruncate(fd, bytes))
		err(1, "%s", path);
	map = map_file(path, PROT_READ, MAP_SHARED, &bytes);
	if (madvise(map, bytes, MADV_RANDOM))
		err(1, "MADV_RANDOM");
	read_pages(map, bytes / PAGE);
}

/* Runs `change` so many times in a child, each time after `use`. */
static void take_turns(int times, void (*use)(void *), void (*change)(void *), void *context)
{
	int turns[2], done[2];
	pid_t child;
	char byte = 0;

	if (pipe(turns) || pipe(done))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(turns[1]);
		while (read(turns[0], &byte, 1) == 1) {
			change(context);
			if (write(done[1], &byte, 1) != 1)
				err(1, "write");
		}
		_exit(0);
	}
	for (; times; times--) {
		use(context);
		if (write(turns[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
			err(1, "the child has ended");
	}
	close(turns[1]);
	waitpid(child, NULL, 0);
}

struct shared_file {
	int fd;
	char *map;
	size_t bytes;
};

static void write_shared(void *context)
{
	const struct shared_file *file = context;

	write_pages(file->map, file->bytes / PAGE);
}

static void read_shared(void *context)
{
	const struct shared_file *file = context;

	read_pages(file->map, file->bytes / PAGE);
}

static void punch(void *context)
{
	const struct shared_file *file = context;

	if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, file->bytes))
		err(1, "fallocate");
}

static void punch_shared(int times, size_t pages)
{
	struct shared_file file = { .fd = memfd_create("near", 0), .bytes = pages * PAGE };

	if (file.fd < 0 || ftruncate(file.fd, file.bytes))
		err(1, "memfd");
	file.map = mmap(NULL, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
	if (file.map == MAP_FAILED)
		err(1, "mmap");
	take_turns(times, write_shared, punch, &file);
}

static void move_away(int times, size_t pages)
{
	const size_t bytes = pages * PAGE;
	char *map = new_memory(pages), *other = new_memory(pages);

	for (; times; times--) {
		write_pages(map, pages);
		if (mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   other) == MAP_FAILED)
			err(1, "mremap");
	}
}

static void drop_file(int times, const char *path)
{
	const int fd = open(path, O_RDONLY);
	size_t bytes;

	for (; times; times--) {
		char *map = map_file(path, PROT_READ, MAP_SHARED, &bytes);

		read_pages(map, bytes / PAGE);
		munmap(map, bytes);
		if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			errx(1, "cannot drop %s", path);
	}
}

static void write_directly(void *context)
{
	const struct shared_file *file = context;
	const size_t block = MIB;
	char *buffer = map_memory(block, MAP_PRIVATE);
	size_t at;

	for (at = 0; at < file->bytes; at += block)
		if (pwrite(file->fd, buffer, block, at) != (ssize_t)block)
			err(1, "O_DIRECT");
	munmap(buffer, block);
}

static void read_rewritten(int times, const char *path)
{
	struct shared_file file = { .fd = open(path, O_RDWR | O_DIRECT) };

	file.map = map_file(path, PROT_READ, MAP_SHARED, &file.bytes);
	take_turns(times, read_shared, write_directly, &file);
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
	} else if (!strcmp(what, "children") && words[1]) {
		fork_readers(first, words[1]);
	} else if (!strcmp(what, "shared") && second) {
		map_shared(first, second);
	} else if (!strcmp(what, "fill") && second) {
		fill_children(first, second);
	} else if (!strcmp(what, "holes") && words[1]) {
		read_holes(first * MIB, words[1]);
	} else if (!strcmp(what, "punch") && second) {
		punch_shared(first, second);
	} else if (!strcmp(what, "away") && second) {
		move_away(first, second);
	} else if (!strcmp(what, "dropped") && words[1]) {
		drop_file(first, words[1]);
	} else if (!strcmp(what, "direct") && words[1]) {
		read_rewritten(first, words[1]);
	} else {
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 2 ? run(argv[1], argv + 2) : 2;
}
