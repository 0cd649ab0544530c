// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts, paces and ends one competing process, and is that process's program. The two communicate
 * by a pipe and a counter in shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pressure/competitor.h"
#include "privilege/invoker.h"
#include "system/processes.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/random.h"

#define STORE_EACH  8 /* as the study's */
#define PROGRESS_FD 3 /* in the competitor */
#define AWAIT_MS    100

/*
 * A separate program, not a copy of this process: it shares no page with the run, so each page
 * belongs to one process.
 */
static int competitor_spawn(struct competitor *competitor, char *const *arguments, int end)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, competitor->progress_fd, PROGRESS_FD);
	posix_spawnattr_init(&attributes);
	/* A terminal's Ctrl-C must reach only pfdrive, which then stops the competitor. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&attributes, 0);
	err = posix_spawn(&competitor->pid, "/proc/self/exe", &actions, &attributes, arguments,
			  environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		competitor->pid = 0;
	return -err;
}

static int competitor_open_progress(struct competitor *competitor)
{
	void *page;

	competitor->progress_fd = memfd_create("pfdrive-progress", MFD_CLOEXEC);
	if (competitor->progress_fd < 0 || ftruncate(competitor->progress_fd, page_size()))
		return -errno;
	page = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, competitor->progress_fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	competitor->accesses = page;
	return 0;
}

int competitor_start(struct competitor *competitor, const struct competitor_plan *plan)
{
	char bytes[24], number[16], parent[16];
	char *const arguments[] = { "pfdrive",
				    "helper",
				    "competitor",
				    bytes,
				    plan->random ? "random" : "sequential",
				    number,
				    parent,
				    (char *)invoker_chosen(),
				    NULL };
	int ends[2], err;

	snprintf(bytes, sizeof(bytes), "%" PRIu64, plan->bytes);
	snprintf(number, sizeof(number), "%u", plan->number);
	snprintf(parent, sizeof(parent), "%d", getpid());
	err = competitor_open_progress(competitor);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	competitor->fd = ends[0];
	err = competitor_spawn(competitor, arguments, ends[1]);
	close(ends[1]);
	return err ?: cpus_confine(competitor->pid, plan->cpus);
}

int competitor_go(const struct competitor *competitor)
{
	return send(competitor->fd, "g", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static bool competitor_has_ended(struct competitor *competitor, int *status)
{
	if (waitpid(competitor->pid, status, WNOHANG) != competitor->pid)
		return false;
	competitor->pid = 0;
	return true;
}

int competitor_await(struct competitor *competitor, const volatile sig_atomic_t *stop, int *status)
{
	struct pollfd poll_fd = { .fd = competitor->fd, .events = POLLIN };
	char byte;

	while (!*stop) {
		if (poll(&poll_fd, 1, AWAIT_MS) > 0 && recv(competitor->fd, &byte, 1, 0) == 1)
			return 0;
		if (competitor_has_ended(competitor, status))
			return -ECHILD;
	}
	return -EINTR;
}

int competitor_pause(struct competitor *competitor, int *status)
{
	kill(competitor->pid, SIGSTOP);
	while (waitpid(competitor->pid, status, WUNTRACED) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSTOPPED(*status))
		return 0;
	competitor->pid = 0;
	return -ECHILD;
}

void competitor_read(const struct competitor *competitor, struct competitor_figures *figures)
{
	struct process_counts counts;
	const int err = process_counts(competitor->pid, &counts);

	figures->minflt = err ? COUNT_NA : counts.minflt;
	figures->majflt = err ? COUNT_NA : counts.majflt;
	figures->accesses = *competitor->accesses;
}

void competitor_stop(struct competitor *competitor)
{
	if (competitor->pid) {
		kill(competitor->pid, SIGKILL);
		while (waitpid(competitor->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (competitor->accesses)
		munmap((void *)competitor->accesses, page_size());
	if (competitor->fd >= 0)
		close(competitor->fd);
	if (competitor->progress_fd >= 0)
		close(competitor->progress_fd);
	*competitor = COMPETITOR_NONE;
}

/* From here on in the competitor itself. */

struct pressure_memory {
	volatile uint8_t *data;
	uint64_t pages, page_bytes;
	volatile uint64_t *accesses;
};

/* When memory and swap are used up, it is the one to be killed. */
static void competitor_offer_to_be_killed(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0)
		fprintf(stderr, "pfdrive: a competitor cannot offer to be killed: %s\n",
			strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int competitor_open_memory(struct pressure_memory *memory, uint64_t bytes)
{
	void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *progress =
		mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, PROGRESS_FD, 0);

	if (data == MAP_FAILED || progress == MAP_FAILED)
		return -errno;
	/* Small pages, also where the kernel would give huge ones. */
	madvise(data, bytes, MADV_NOHUGEPAGE);
	*memory = (struct pressure_memory){
		.data = data,
		.pages = bytes / page_size(),
		.page_bytes = page_size(),
		.accesses = progress,
	};
	return 0;
}

/* A page that was only read is the zero page, and takes no memory: store to each. */
static void competitor_once_around(const struct pressure_memory *memory)
{
	uint64_t page;

	for (page = 0; page < memory->pages; page++)
		memory->data[page * memory->page_bytes] = 1;
}

/* The study's loop: a page in order or at random, and a store in each eighth step. */
static void __attribute__((noreturn)) competitor_compete(const struct pressure_memory *memory,
							 bool random, uint64_t seed)
{
	struct random numbers = random_begin(seed, memory->pages);
	uint64_t step = 0, page;

	for (;; (*memory->accesses)++) {
		page = random ? random_below(&numbers) : step;
		(void)memory->data[page * memory->page_bytes];
		if (step % STORE_EACH == 0)
			memory->data[page * memory->page_bytes] = 1;
		step = step + 1 < memory->pages ? step + 1 : 0;
	}
}

/* Runs with the privileges of the user who started the competition. It needs only memory. */
static int competitor_become(const char *chosen)
{
	int err = *chosen ? invoker_choose(chosen) : 0;

	return err ? err : invoker_become();
}

int competitor_live(const struct competitor_plan *plan, pid_t parent, const char *user)
{
	struct pressure_memory memory = { 0 };
	char name[16], byte;

	competitor_offer_to_be_killed();
	if (competitor_become(user))
		return STATUS_FAILED;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return STATUS_FAILED; /* it is gone already */
	snprintf(name, sizeof(name), "competitor%u", plan->number);
	prctl(PR_SET_NAME, name);
	if (competitor_open_memory(&memory, plan->bytes))
		return STATUS_FAILED;
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return STATUS_OK;
	competitor_once_around(&memory);
	if (send(STDIN_FILENO, "a", 1, MSG_NOSIGNAL) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
		return STATUS_OK;
	competitor_compete(&memory, plan->random, plan->number);
}
