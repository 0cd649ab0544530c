// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes faults whose number and place are known. Each line on stdout names them, so that a test
 * finds the same faults in a recording:
 *
 *	range NAME TID ADDRESS PAGES MINOR MAJOR SINCE
 *
 * means that this thread touched each of these pages once, one after another, and that getrusage()
 * counted so many faults meanwhile. (MINOR and MAJOR are 0 for "failed", "threads" and "fork",
 * where others fault at the same time.) SINCE is the start of main() in CLOCK_MONOTONIC ns.
 * Earlier, the loader may have had a mapping at this address.
 *
 *	native_faults sampling			"all", "user" (perf shows no faults in system
 *						calls), or the error of perf_event_open()
 *	native_faults anon PAGES		write each page
 *	native_faults twice PAGES		read each page, then write each
 *	native_faults file FILE			read each page of a shared mapping
 *	native_faults random FILE		the same, after MADV_RANDOM
 *	native_faults private FILE		write each page of a private mapping
 *	native_faults threads NUMBER PAGES	threads write pages of their own
 *	native_faults attached NUMBER PAGES	the same, once a line arrives on stdin
 *	native_faults churn NUMBER PAGES	the same every 5 ms, until it is killed: a recorder
 *						keeps up on a busy machine
 *	native_faults spawn NUMBER PAGES	threads that each start a process and a thread, which
 *						write pages of their own, until it is killed
 *	native_faults fork CHILDREN PAGES	write each page; the children write each, then the
 *						parent again
 *	native_faults denied NUMBER		read a page without access so often: SIGSEGV
 *	native_faults cut NUMBER FILE		the same beyond the end of the file: SIGBUS
 *	native_faults call FILE PAGES		read(2) into pages that were not touched before
 *	native_faults populate PAGES		MAP_POPULATE
 *	native_faults handled PAGES		read each page, which a handler of userfaultfd
 *						brings after a moment
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS  64
#define MOST_CHILDREN 16

static size_t page_bytes;
static unsigned long long main_ns;

static void die(const char *what)
{
	fprintf(stderr, "native_faults: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void print_range(const char *name, pid_t tid, const void *map, size_t pages,
			const struct rusage *from, const struct rusage *to)
{
	printf("range %s %d %#lx %zu %ld %ld %llu\n", name, tid, (unsigned long)map, pages,
	       to ? to->ru_minflt - from->ru_minflt : 0, to ? to->ru_majflt - from->ru_majflt : 0,
	       main_ns);
}

static char *map_pages(size_t pages, int prot, int flags, int fd)
{
	char *map = mmap(NULL, pages * page_bytes, prot, flags, fd, 0);

	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

/* One fault for each page, regardless of the huge page setting. */
static char *map_anonymous(size_t pages)
{
	char *map = map_pages(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	/* Fails on a kernel without huge pages, which is as good. */
	madvise(map, pages * page_bytes, MADV_NOHUGEPAGE);
	return map;
}

static char *map_file(const char *path, int prot, int flags, size_t *pages)
{
	struct stat st;
	char *map;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		die(path);
	*pages = st.st_size / page_bytes;
	map = map_pages(*pages, prot, flags, fd);
	close(fd);
	return map;
}

static void touch(char *map, size_t pages, bool write)
{
	volatile char *byte = map;
	size_t page;

	for (page = 0; page < pages; page++, byte += page_bytes) {
		if (write)
			*byte = 1;
		else
			(void)*byte;
	}
}

/* Touches nothing else meanwhile: the code and the stack are resident. */
static void touch_counted(const char *name, char *map, size_t pages, bool write)
{
	struct rusage from, to;

	touch(map, 0, write);
	getrusage(RUSAGE_SELF, &to);
	getrusage(RUSAGE_SELF, &from);
	touch(map, pages, write);
	getrusage(RUSAGE_SELF, &to);
	print_range(name, getpid(), map, pages, &from, &to);
}

static void run_twice(size_t pages)
{
	char *map = map_anonymous(pages);

	touch_counted("read", map, pages, false);
	touch_counted("written", map, pages, true);
}

static void run_file(const char *path, int advice)
{
	size_t pages;
	char *map = map_file(path, PROT_READ, MAP_SHARED, &pages);

	if (madvise(map, pages * page_bytes, advice))
		die("madvise");
	touch_counted("file", map, pages, false);
}

static void run_private(const char *path)
{
	size_t pages;
	char *map = map_file(path, PROT_READ | PROT_WRITE, MAP_PRIVATE, &pages);

	touch_counted("private", map, pages, true);
}

struct worker {
	pthread_t thread;
	pid_t tid;
	char *map;
};

static struct worker workers[MOST_THREADS];
static size_t worker_pages;
static pthread_barrier_t ready, go;

static void *worker_main(void *arg)
{
	struct worker *worker = arg;

	worker->tid = gettid();
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&go);
	touch(worker->map, worker_pages, true);
	return NULL;
}

static void *churn_main(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		touch(worker->map, worker_pages, true);
		madvise(worker->map, worker_pages * page_bytes, MADV_DONTNEED);
		usleep(5000);
	}
	return NULL;
}

static void wait_for_line(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		exit(2);
}

static void workers_start(int nr, size_t pages, void *(*main)(void *))
{
	int i;

	if (nr < 1 || nr > MOST_THREADS)
		exit(2);
	worker_pages = pages;
	for (i = 0; i < nr; i++) {
		workers[i].map = map_anonymous(pages);
		if (pthread_create(&workers[i].thread, NULL, main, &workers[i]))
			die("pthread_create");
	}
}

static void run_threads(int nr, size_t pages, bool attached)
{
	int i;

	pthread_barrier_init(&ready, NULL, nr + 1);
	pthread_barrier_init(&go, NULL, nr + 1);
	workers_start(nr, pages, worker_main);
	pthread_barrier_wait(&ready);
	if (attached)
		wait_for_line();
	pthread_barrier_wait(&go);
	for (i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		print_range("thread", workers[i].tid, workers[i].map, pages, NULL, NULL);
	}
}

static void *touch_main(void *arg)
{
	touch(arg, worker_pages, true);
	return NULL;
}

static void *spawn_main(void *arg)
{
	struct worker *worker = arg;
	pthread_t thread;
	pid_t child;

	for (;;) {
		child = fork();
		if (child < 0)
			die("fork");
		if (!child) {
			touch(worker->map, worker_pages, true);
			_exit(0);
		}
		if (pthread_create(&thread, NULL, touch_main, worker->map))
			die("pthread_create");
		pthread_join(thread, NULL);
		waitpid(child, NULL, 0);
		madvise(worker->map, worker_pages * page_bytes, MADV_DONTNEED);
	}
	return NULL;
}

static void run_for_ever(int nr, size_t pages, void *(*main)(void *))
{
	workers_start(nr, pages, main);
	printf("ready %d\n", getpid());
	fflush(stdout);
	pthread_join(workers[0].thread, NULL);
}

static void run_fork(int nr, size_t pages)
{
	char *map = map_anonymous(pages);
	pid_t children[MOST_CHILDREN];
	int i;

	if (nr < 1 || nr > MOST_CHILDREN)
		exit(2);
	touch_counted("parent", map, pages, true);
	fflush(stdout); /* or each child would have the line */
	for (i = 0; i < nr; i++) {
		children[i] = fork();
		if (children[i] < 0)
			die("fork");
		if (!children[i]) {
			touch(map, pages, true);
			_exit(0);
		}
	}
	for (i = 0; i < nr; i++) {
		waitpid(children[i], NULL, 0);
		print_range("child", children[i], map, pages, NULL, NULL);
	}
	touch_counted("parent", map, pages, true);
}

static sigjmp_buf before_access;

static void on_signal(int number)
{
	(void)number;
	siglongjmp(before_access, 1);
}

static void fail_once(volatile const char *byte)
{
	if (!sigsetjmp(before_access, 1)) {
		(void)*byte;
		exit(3); /* it did not fail */
	}
}

static void run_failed(int nr, int signal_number, const char *map)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct rusage from, to;
	int i;

	if (sigaction(signal_number, &action, NULL))
		die("sigaction");
	/* The first signal has extra faults: the handler's code and data. */
	if (!sigsetjmp(before_access, 1))
		raise(signal_number);
	getrusage(RUSAGE_SELF, &to);
	getrusage(RUSAGE_SELF, &from);
	for (i = 0; i < nr; i++)
		fail_once(map);
	getrusage(RUSAGE_SELF, &to);
	print_range("failed", getpid(), map, 1, &from, &to);
}

static void run_denied(int nr)
{
	run_failed(nr, SIGSEGV, map_pages(1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
}

static void run_cut(int nr, const char *path)
{
	struct stat st;
	char *map;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		die(path);
	map = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd,
		   (st.st_size / page_bytes + 1) * page_bytes);
	if (map == MAP_FAILED)
		die("mmap");
	run_failed(nr, SIGBUS, map);
}

/* The kernel faults when it copies to the pages. */
static void run_call(const char *path, size_t pages)
{
	char *map = map_anonymous(pages);
	int fd = open(path, O_RDONLY);
	struct rusage from, to;
	size_t page;

	if (fd < 0)
		die(path);
	getrusage(RUSAGE_SELF, &to);
	getrusage(RUSAGE_SELF, &from);
	for (page = 0; page < pages; page++)
		if (read(fd, map + page * page_bytes, page_bytes) != (ssize_t)page_bytes)
			die("read");
	getrusage(RUSAGE_SELF, &to);
	print_range("call", getpid(), map, pages, &from, &to);
}

/* get_user_pages() faults, for which perf has no event. */
static void run_populate(size_t pages)
{
	struct rusage from, to;
	char *map;

	getrusage(RUSAGE_SELF, &to);
	getrusage(RUSAGE_SELF, &from);
	map = map_pages(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
			-1);
	getrusage(RUSAGE_SELF, &to);
	print_range("populate", getpid(), map, pages, &from, &to);
}

static int handled_fd;

static void *bring_pages(void *unused)
{
	const struct timespec moment = { .tv_nsec = 200000 };
	struct uffdio_copy copy = { .len = page_bytes };
	struct uffd_msg message;

	copy.src = (unsigned long)memset(aligned_alloc(page_bytes, page_bytes), 1, page_bytes);
	while (read(handled_fd, &message, sizeof(message)) == sizeof(message)) {
		nanosleep(&moment, NULL);
		copy.dst = message.arg.pagefault.address & ~(page_bytes - 1ULL);
		if (ioctl(handled_fd, UFFDIO_COPY, &copy))
			die("UFFDIO_COPY");
	}
	return unused;
}

static void run_handled(size_t pages)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *map = map_anonymous(pages);
	pthread_t thread;

	handled_fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (handled_fd < 0 || ioctl(handled_fd, UFFDIO_API, &api))
		die("userfaultfd");
	range.range.start = (unsigned long)map;
	range.range.len = pages * page_bytes;
	if (ioctl(handled_fd, UFFDIO_REGISTER, &range) ||
	    pthread_create(&thread, NULL, bring_pages, NULL))
		die("UFFDIO_REGISTER");
	touch_counted("handled", map, pages, false);
}

static int open_sampling(bool user_only)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
		.exclude_kernel = user_only,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void run_sampling(void)
{
	if (open_sampling(false) >= 0)
		puts("all");
	else if (open_sampling(true) >= 0)
		puts("user");
	else
		puts(strerrorname_np(errno));
}

static int run(const char *what, char **words)
{
	const long first = words[0] ? atol(words[0]) : 0;
	const long second = words[0] && words[1] ? atol(words[1]) : 0;

	if (!strcmp(what, "sampling"))
		run_sampling();
	else if (!strcmp(what, "anon") && first)
		touch_counted("anon", map_anonymous(first), first, true);
	else if (!strcmp(what, "handled") && first)
		run_handled(first);
	else if (!strcmp(what, "twice") && first)
		run_twice(first);
	else if (!strcmp(what, "file") && words[0])
		run_file(words[0], MADV_NORMAL);
	else if (!strcmp(what, "random") && words[0])
		run_file(words[0], MADV_RANDOM);
	else if (!strcmp(what, "private") && words[0])
		run_private(words[0]);
	else if (!strcmp(what, "threads") && second)
		run_threads(first, second, false);
	else if (!strcmp(what, "attached") && second)
		run_threads(first, second, true);
	else if (!strcmp(what, "churn") && second)
		run_for_ever(first, second, churn_main);
	else if (!strcmp(what, "spawn") && second)
		run_for_ever(first, second, spawn_main);
	else if (!strcmp(what, "fork") && second)
		run_fork(first, second);
	else if (!strcmp(what, "denied") && first)
		run_denied(first);
	else if (!strcmp(what, "cut") && first && words[1])
		run_cut(first, words[1]);
	else if (!strcmp(what, "call") && second)
		run_call(words[0], second);
	else if (!strcmp(what, "populate") && first)
		run_populate(first);
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	main_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	page_bytes = sysconf(_SC_PAGESIZE);
	return argc > 1 ? run(argv[1], argv + 2) : 2;
}
