// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays an access plan once under a candidate, in a child process: forks the child, maps the
 * recorded ranges, and starts a thread for each recorded one, which runs the plan's steps.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "advise/access_plan.h"
#include "advise/advise.h"
#include "util/array.h"
#include "util/input_file.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "util/why.h"
#include "workload/mapping.h"
#include "workload/pattern.h"

/*
 * Runs an access plan's steps as accesses, calls and waits. CPU time is spent on the CPU, so
 * threads compete for the CPU as they did. A sleep is a sleep.
 */

struct replayed_mapping {
	uint8_t *data; /* NULL: not mapped */
	uint64_t bytes;
	int advice; /* a candidate's advice, replacing the recorded, or -1 if none */
};

struct step_context {
	const struct replayed_mapping *mappings;
	uint32_t *signals; /* 1: sent, with a futex each */
};

struct step_runner_figures {
	uint64_t fault_ns, end_ns;
	uint64_t minor, major;
	uint64_t refused;
	int refused_errno;
};

/* CLOCK_THREAD_CPUTIME_ID needs a system call, which is too long for shorter times. */
#define THREAD_CLOCK_FROM_NS 50000

static void run_for(uint64_t ns)
{
	const clockid_t clock = ns < THREAD_CLOCK_FROM_NS ? CLOCK_MONOTONIC :
							    CLOCK_THREAD_CPUTIME_ID;
	const uint64_t start = clock_read_ns(clock);

	while (clock_read_ns(clock) - start < ns && !signals_caught)
		;
}

/* Sleeps in one-second slices, to notice a signal to another thread. */
static void sleep_for(uint64_t ns)
{
	const uint64_t start = clock_monotonic_ns();
	uint64_t slept = 0, slice;
	struct timespec time;

	for (; slept < ns && !signals_caught; slept = clock_monotonic_ns() - start) {
		slice = ns - slept < SECOND ? ns - slept : SECOND;
		time = (struct timespec){ slice / SECOND, slice % SECOND };
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	}
}

/* Waits until *number is 1, or for signals_caught. */
static void step_runner_wait(uint32_t *number)
{
	const struct timespec second = { .tv_sec = 1 };

	while (!__atomic_load_n(number, __ATOMIC_ACQUIRE) && !signals_caught)
		syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
}

static void step_runner_signal(uint32_t *number)
{
	__atomic_store_n(number, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void advise_range(const struct replayed_mapping *mapping, uint64_t page, uint64_t pages,
			 int advice, struct step_runner_figures *figures)
{
	const uint64_t all = page_size_count(mapping->bytes);
	const uint64_t room = page < all ? all - page : 0;
	const uint64_t start = clock_monotonic_ns();

	pages = pages < room ? pages : room;
	if (madvise(mapping->data + page * page_size(), pages * page_size(), advice)) {
		figures->refused++;
		figures->refused_errno = errno;
	}
	figures->fault_ns += clock_monotonic_ns() - start;
}

/* Calls madvise(2) for a whole mapping, and counts the time and a failure. */
static void step_runner_advise_all(const struct replayed_mapping *mapping,
				   struct step_runner_figures *figures)
{
	if (mapping->advice >= 0)
		advise_range(mapping, 0, UINT64_MAX / page_size(), mapping->advice, figures);
}

/* A candidate replaces the program's advice, except that pages are not needed any more. */
static void advise_as_recorded(const struct replayed_mapping *mapping, const struct plan_step *step,
			       struct step_runner_figures *figures)
{
	if (mapping->advice < 0 || step->advice == MADV_DONTNEED)
		advise_range(mapping, step->value, step->pages, step->advice, figures);
}

static void touch_page(const struct replayed_mapping *mapping, uint64_t page,
		       struct step_runner_figures *figures)
{
	const uint64_t start = clock_monotonic_ns();

	*(volatile uint8_t *)(mapping->data + page * page_size());
	figures->fault_ns += clock_monotonic_ns() - start;
}

static void step_run(const struct step_context *context, const struct plan_step *step,
		     struct step_runner_figures *figures)
{
	switch (step->type) {
	case PLAN_RUN:
		run_for(step->value);
		break;
	case PLAN_SLEEP:
		sleep_for(step->value);
		break;
	case PLAN_TOUCH:
		touch_page(&context->mappings[step->mapping], step->value, figures);
		break;
	case PLAN_ADVISE:
		advise_as_recorded(&context->mappings[step->mapping], step, figures);
		break;
	case PLAN_MAPPED:
		step_runner_advise_all(&context->mappings[step->mapping], figures);
		break;
	case PLAN_SIGNAL:
		step_runner_signal(&context->signals[step->mapping]);
		break;
	case PLAN_WAIT:
		step_runner_wait(&context->signals[step->mapping]);
		break;
	}
}

/* Runs until the last step, or until signals_caught. */
static __attribute__((noinline)) void step_runner_run(const struct step_context *context,
						      const struct plan_step *steps, size_t nr,
						      struct step_runner_figures *figures)
{
	struct rusage before, after;
	size_t i;

	getrusage(RUSAGE_THREAD, &before);
	for (i = 0; i < nr && !signals_caught; i++)
		step_run(context, &steps[i], figures);
	figures->end_ns = clock_monotonic_ns();
	getrusage(RUSAGE_THREAD, &after);
	figures->minor += after.ru_minflt - before.ru_minflt;
	figures->major += after.ru_majflt - before.ru_majflt;
}

/*
 * Runs a step of each type on separate memory, so faults on step_runner_run()'s code and stack are
 * not counted later.
 */
static void step_runner_warm_up(void)
{
	static uint8_t page[2 * PAGE_SIZE_MAX];
	static const struct plan_step steps[] = {
		{ .type = PLAN_RUN, .value = 1 },
		{ .type = PLAN_RUN, .value = 100000 },
		{ .type = PLAN_SLEEP, .value = 1 },
		{ .type = PLAN_TOUCH },
		{ .type = PLAN_ADVISE, .advice = MADV_NORMAL }, /* for no page */
		{ .type = PLAN_MAPPED },
		{ .type = PLAN_SIGNAL },
		{ .type = PLAN_WAIT },
	};
	const struct replayed_mapping mapping = { .data = page, .bytes = 0, .advice = -1 };
	uint32_t sent = 0;
	const struct step_context context = { &mapping, &sent };
	struct step_runner_figures figures = { 0 };

	step_runner_run(&context, steps, ARRAY_SIZE(steps), &figures);
}

/*
 * Forks a child that maps the recorded ranges, starts a thread for each recorded one, and replays
 * their steps. The child leaves the figures in memory shared with the parent. The parent stops the
 * child after a signal, and waits for it, so the child can restore a setting.
 */

#define STACK_BYTES (128U << 10)

/* Shared by parent and child. */
struct outcome {
	struct repetition_figures figures;
	int err;
	struct why why;
};

struct replay_thread {
	pthread_t thread;
	const struct plan_thread *plan;
	const struct step_context *context;
	uint32_t *ready, *go;
	struct step_runner_figures figures;
};

/* Everything the child has. It exits without freeing. */
struct replay_child {
	const struct recorded_accesses *accesses;
	const struct candidate *candidate;
	struct outcome *outcome;
	struct replayed_mapping *mappings;
	struct step_context context;
	struct replay_thread *threads;
	uint32_t ready, go;
	struct hash descriptors; /* 1 + a file's fd in a process */
};

static int child_fails(struct replay_child *child, int err, const char *operation,
		       const char *object)
{
	child->outcome->err = err;
	return why_fail(&child->outcome->why, err, "%s %s", operation, object);
}

/*
 * A file takes the read-ahead from the device's setting when it is opened, see struct policy. A
 * file on a file system without such a setting (tmpfs: the program itself may be there) keeps the
 * old read-ahead. advise.c does not try such a candidate if the most important file has no setting.
 */
static int open_with_readahead(struct replay_child *child, const char *path, int *fd)
{
	struct policy_readahead readahead = POLICY_READAHEAD_NONE;
	int err = 0, end_err;

	if (child->candidate->readahead_bytes >= 0)
		err = policy_readahead_begin(&readahead, path, child->candidate->readahead_bytes);
	if (err && err != -EOPNOTSUPP)
		return child_fails(child, err, "change the read-ahead of", path);
	*fd = open_regular(path, O_RDONLY);
	end_err = policy_readahead_end(&readahead);
	if (end_err)
		return child_fails(child, end_err, "restore", readahead.path);
	return *fd < 0 ? child_fails(child, *fd, "open", path) : 0;
}

/* Each process has a separate descriptor, and so a separate read-ahead state. */
static int descriptor_of(struct replay_child *child, const struct accessed_mapping *mapping)
{
	const uint64_t key = (uint64_t)mapping->pid << 32 | mapping->file;
	uintptr_t number = (uintptr_t)hash_find(&child->descriptors, key);
	int fd = -1, err;

	if (number)
		return number - 1;
	err = open_with_readahead(child, child->accesses->files[mapping->file].path, &fd);
	if (err)
		return err;
	if (hash_add(&child->descriptors, key, (void *)(uintptr_t)(fd + 1)))
		return child_fails(child, -ENOMEM, "open", "the files");
	return fd;
}

/* The candidate's advice for a mapping, or -1 to repeat the recorded advice. */
static int replayed_advice_of(const struct replay_child *child,
			      const struct accessed_mapping *mapping)
{
	const int advice = child->candidate->advice;

	if (!child->accesses->files[mapping->file].advised)
		return -1;
	/*
	 * A child inherits how the parent's mapping reads, but no call is repeated for the child.
	 */
	if (mapping->inherited && (advice == MADV_WILLNEED || advice == MADV_POPULATE_READ))
		return MADV_NORMAL;
	return advice;
}

static int map_one(struct replay_child *child, size_t number)
{
	const struct accessed_mapping *mapping = &child->accesses->mappings[number];
	struct replayed_mapping *replayed = &child->mappings[number];
	const char *path = child->accesses->files[mapping->file].path;
	const int fd = descriptor_of(child, mapping);
	void *data;

	if (fd < 0)
		return fd;
	data = mmap(NULL, mapping->bytes, PROT_READ, mapping->shared ? MAP_SHARED : MAP_PRIVATE, fd,
		    mapping->pgoff * page_size());
	if (data == MAP_FAILED)
		return child_fails(child, -errno, "map", path);
	replayed->data = data;
	replayed->bytes = mapping->bytes;
	replayed->advice = replayed_advice_of(child, mapping);
	if (replayed->advice < 0 && mapping->initial_advice >= 0 &&
	    madvise(data, mapping->bytes, mapping->initial_advice))
		return child_fails(child, -errno, "call madvise(2) for", path);
	return 0;
}

static bool is_replayed(const struct recorded_accesses *accesses, size_t number)
{
	const struct accessed_mapping *mapping = &accesses->mappings[number];

	return mapping->used && accesses->files[mapping->file].faults &&
	       !accesses->files[mapping->file].left_out;
}

static int map_all(struct replay_child *child)
{
	const struct recorded_accesses *accesses = child->accesses;
	int err = 0;
	size_t i;

	child->mappings = calloc(accesses->nr_mappings + 1, sizeof(*child->mappings));
	child->context.signals =
		calloc(accesses->plan.nr_signals + 1, sizeof(*child->context.signals));
	child->threads = calloc(accesses->plan.nr_threads, sizeof(*child->threads));
	if (!child->mappings || !child->context.signals || !child->threads)
		return child_fails(child, -ENOMEM, "prepare", "the replay");
	child->context.mappings = child->mappings;
	for (i = 0; i < accesses->nr_mappings && !err; i++)
		if (is_replayed(accesses, i))
			err = map_one(child, i);
	return err;
}

static void *thread_main(void *argument)
{
	struct replay_thread *thread = argument;

	step_runner_warm_up();
	__atomic_fetch_add(thread->ready, 1, __ATOMIC_RELEASE);
	step_runner_wait(thread->go);
	step_runner_run(thread->context, thread->plan->steps, thread->plan->nr_steps,
			&thread->figures);
	return NULL;
}

static int start_threads(struct replay_child *child)
{
	const struct access_plan *plan = &child->accesses->plan;
	const struct timespec moment = { .tv_nsec = 100000 };
	pthread_attr_t attributes;
	size_t i;
	int err = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (i = 0; i < plan->nr_threads && !err; i++) {
		child->threads[i] = (struct replay_thread){ .plan = plan->threads[i],
							    .context = &child->context,
							    .ready = &child->ready,
							    .go = &child->go };
		err = pthread_create(&child->threads[i].thread, &attributes, thread_main,
				     &child->threads[i]);
	}
	pthread_attr_destroy(&attributes);
	if (err)
		return child_fails(child, -err, "start", "the replay threads");
	while (__atomic_load_n(&child->ready, __ATOMIC_ACQUIRE) < plan->nr_threads &&
	       !signals_caught)
		nanosleep(&moment, NULL);
	return 0;
}

/* Bytes this process caused to be read from block devices, or UINT64_MAX if not known. */
static uint64_t repetition_read_bytes(void)
{
	uint64_t bytes = UINT64_MAX;
	FILE *file = fopen("/proc/self/io", "re");
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "read_bytes: %" SCNu64, &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

/* A mapping that existed before the recording gets the candidate's advice before all accesses. */
static void advise_earlier(struct replay_child *child, struct step_runner_figures *figures)
{
	const struct recorded_accesses *accesses = child->accesses;
	size_t i;

	for (i = 0; i < accesses->nr_mappings; i++)
		if (child->mappings[i].data &&
		    (accesses->mappings[i].before || accesses->mappings[i].inherited))
			step_runner_advise_all(&child->mappings[i], figures);
}

static void take_thread(struct repetition_figures *sum, const struct step_runner_figures *figures,
			uint64_t *end_ns)
{
	sum->fault_ns += figures->fault_ns;
	sum->minor += figures->minor;
	sum->major += figures->major;
	sum->refused += figures->refused;
	if (figures->refused)
		sum->refused_errno = figures->refused_errno;
	if (figures->end_ns > *end_ns)
		*end_ns = figures->end_ns;
}

static void child_replay(struct replay_child *child)
{
	struct repetition_figures *sum = &child->outcome->figures;
	const uint64_t read_before = repetition_read_bytes();
	const uint64_t start_ns = clock_monotonic_ns();
	struct step_runner_figures earlier = { .end_ns = start_ns };
	uint64_t end_ns = start_ns, read_after;
	size_t i;

	advise_earlier(child, &earlier);
	step_runner_signal(&child->go);
	for (i = 0; i < child->accesses->plan.nr_threads; i++)
		pthread_join(child->threads[i].thread, NULL);
	take_thread(sum, &earlier, &end_ns);
	for (i = 0; i < child->accesses->plan.nr_threads; i++)
		take_thread(sum, &child->threads[i].figures, &end_ns);
	read_after = repetition_read_bytes();
	sum->elapsed_ns = end_ns - start_ns;
	sum->read_bytes = read_before == UINT64_MAX || read_after == UINT64_MAX ?
				  UINT64_MAX :
				  read_after - read_before;
}

static _Noreturn void child_main(struct replay_child *child, const sigset_t *mask)
{
	signal(SIGBUS, SIG_DFL); /* the parent reports it */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	prctl(PR_SET_TIMERSLACK, 1); /* short sleeps are as long as they were */
	if (!map_all(child) && !start_threads(child))
		child_replay(child);
	_exit(0);
}

/*
 * Signals are blocked except in ppoll(2), so none is missed. After a signal the child also gets
 * one, and this function waits for the child's cleanup.
 */
static int child_await(pid_t pid, const sigset_t *mask, int *status)
{
	struct pollfd polled = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int err = polled.fd < 0 ? -errno : 0;

	while (!err && !signals_caught && ppoll(&polled, 1, NULL, mask) < 0)
		err = errno == EINTR ? 0 : -errno;
	if (err || signals_caught)
		kill(pid, SIGTERM);
	if (waitpid(pid, status, 0) < 0 && !err)
		err = -errno;
	if (polled.fd >= 0)
		close(polled.fd);
	return err;
}

static int outcome_take(const struct outcome *outcome, int wait_status,
			struct repetition_figures *figures, struct why *why)
{
	if (WIFSIGNALED(wait_status)) {
		why_set(why, "read a file page");
		return WTERMSIG(wait_status) == SIGBUS ? -EIO : WTERMSIG(wait_status);
	}
	*why = outcome->why;
	*figures = outcome->figures;
	return outcome->err;
}

int repetition_run(const struct recorded_accesses *accesses, const struct candidate *candidate,
		   struct repetition_figures *figures, struct why *why)
{
	struct replay_child child = { .accesses = accesses, .candidate = candidate };
	int status = 0, err;
	sigset_t before;
	pid_t pid;

	child.outcome = mmap(NULL, sizeof(*child.outcome), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	why_set(why, "start a child");
	if (child.outcome == MAP_FAILED)
		return -errno;
	signals_block(&before);
	pid = fork();
	if (!pid)
		child_main(&child, &before);
	err = pid < 0 ? -errno : child_await(pid, &before, &status);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!err)
		err = outcome_take(child.outcome, status, figures, why);
	munmap(child.outcome, sizeof(*child.outcome));
	return signals_caught ? signals_caught : err;
}
