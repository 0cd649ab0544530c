// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts, watches and kills a row's worker process. Runs come back in shared memory. A watched
 * worker stops at the edges of each timed part: it reports the step through a pipe and waits for a
 * byte. The worker's process group contains the helpers, so one kill(2) ends them all.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/suite/worker.h"
#include "system/processes.h"
#include "util/signals.h"
#include "util/time_ns.h"

static struct measured *worker_map_measured(void)
{
	void *shared = mmap(NULL, sizeof(struct measured), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

/* In the worker. Signals are handled by pfdrive, which then kills the worker. */
static void worker_settle(const struct worker_job *job, struct bench *bench)
{
	struct cpus one;

	signals_default();
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	setpgid(0, 0); /* helpers join this group */
	*bench = (struct bench){
		.operation = job->operation,
		.options = job->options,
		.machine = job->machine,
		.point = job->point,
	};
	if (job->operation->anywhere)
		return;
	one = cpus_only(job->machine->cpu);
	cpus_confine(0, &one);
}

/* Kills the worker and the helpers in its process group. */
static void worker_kill(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
}

static int worker_remaining_ms(uint64_t end_ns)
{
	const uint64_t now = clock_monotonic_ns();

	return now < end_ns ? (end_ns - now) / 1000000 + 1 : 0;
}

/* Waits until fd is readable. -ETIMEDOUT. -EINTR: a signal is pending. */
static int worker_poll(int fd, uint64_t end_ns)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	int ready;

	for (;;) {
		if (signals_caught)
			return -EINTR;
		ready = poll(&polled, 1, worker_remaining_ms(end_ns));
		if (ready > 0)
			return 0;
		if (!ready)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int worker_wait_for_exit(pid_t pid, uint64_t end_ns)
{
	int fd = syscall(SYS_pidfd_open, pid, 0), err;

	if (fd < 0)
		return -errno;
	err = worker_poll(fd, end_ns);
	close(fd);
	return err;
}

static void worker_explain_end(struct measured *measured, int err, uint64_t limit_ns)
{
	if (measured->finished)
		return;
	measured->err = err ? err : -ECHILD;
	if (err == -ETIMEDOUT)
		why_set(&measured->why, "it did not finish within %.0f s", limit_ns / 1e9);
	else if (!measured->why.text[0])
		why_set(&measured->why, "the process exited unexpectedly");
}

int worker_measure(const struct worker_job *job, struct measured *measured)
{
	const uint64_t end_ns = clock_monotonic_ns() + job->limit_ns;
	struct measured *shared = worker_map_measured();
	struct bench bench;
	pid_t pid;
	int err;

	if (!shared)
		return -ENOMEM;
	pid = bench_fork();
	if (!pid) {
		worker_settle(job, &bench);
		bench_measure(&bench, &job->plan, shared);
		_exit(EXIT_SUCCESS);
	}
	err = pid < 0 ? -errno : worker_wait_for_exit(pid, end_ns);
	if (pid > 0)
		worker_kill(pid);
	worker_explain_end(shared, err, job->limit_ns);
	*measured = *shared;
	munmap(shared, sizeof(*shared));
	return err == -ETIMEDOUT ? 0 : err;
}

/* In the watched worker: a byte out reports the step, a byte in lets it go on. */
static void worker_report(int fd, enum worker_step step)
{
	const char byte = step;

	if (write(fd, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
}

static void worker_await_go(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
}

struct worker_pipe_ends {
	int in, out;
};

static void worker_at_bracket(void *context, bool starts)
{
	const struct worker_pipe_ends *ends = context;

	worker_report(ends->out, starts ? WORKER_STARTS : WORKER_STOPS);
	worker_await_go(ends->in);
}

static void worker_run_watched(struct bench *bench, struct measured *measured, uint64_t n,
			       struct worker_pipe_ends *ends)
{
	const struct bench_operation *operation = bench->operation;
	int err;

	bench->why = &measured->why;
	worker_await_go(ends->in);
	err = operation->prepare ? operation->prepare(bench) : 0;
	if (!err)
		err = operation->run(bench, n);
	bench->window = (struct bench_window){ 0 };
	bench->at_bracket = worker_at_bracket;
	bench->bracket_context = ends;
	if (!err)
		err = operation->run(bench, n);
	measured->err = err;
	measured->brackets = bench->window.brackets;
	measured->ns[0] = (double)bench->window.ns / n;
	measured->finished = true;
	worker_report(ends->out, WORKER_DONE);
	worker_await_go(ends->in);
}

static void worker_close_pipes(int in[2], int out[2])
{
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

static void worker_watched_child(const struct worker_job *job, struct measured *shared, uint64_t n,
				 int in[2], int out[2])
{
	struct worker_pipe_ends ends = { in[0], out[1] };
	struct bench bench;

	close(in[1]);
	close(out[0]);
	worker_settle(job, &bench);
	worker_run_watched(&bench, shared, n, &ends);
	_exit(EXIT_SUCCESS);
}

int worker_begin(struct worker *worker, const struct worker_job *job, uint64_t n)
{
	int in[2], out[2], err;

	*worker = (struct worker){ .from = -1, .to = -1, .measured = worker_map_measured() };
	if (!worker->measured)
		return -ENOMEM;
	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		err = -errno;
		close(in[0]);
		close(in[1]);
		return err;
	}
	worker->pid = bench_fork();
	if (!worker->pid)
		worker_watched_child(job, worker->measured, n, in, out);
	if (worker->pid < 0) {
		err = -errno;
		worker_close_pipes(in, out);
		return err;
	}
	close(in[0]);
	close(out[1]);
	worker->to = in[1];
	worker->from = out[0];
	return 0;
}

/*
 * Once the worker sleeps, the calls reporting the step are over. The witness relies on this to
 * subtract them from the counts.
 */
static int worker_wait_until_asleep(pid_t pid, uint64_t end_ns)
{
	static const struct timespec moment = { .tv_nsec = 50000 };
	char state;

	for (;;) {
		state = process_state(pid);
		if (state == 'S')
			return 0;
		if (!state || strchr("ZX", state))
			return -ECHILD;
		if (signals_caught)
			return -EINTR;
		if (clock_monotonic_ns() > end_ns)
			return -ETIMEDOUT;
		nanosleep(&moment, NULL);
	}
}

int worker_next(struct worker *worker, const struct worker_job *job, enum worker_step *step)
{
	const uint64_t end_ns = clock_monotonic_ns() + job->limit_ns;
	char byte;
	int err;

	if (write(worker->to, "", 1) != 1)
		return -errno;
	err = worker_poll(worker->from, end_ns);
	if (!err && read(worker->from, &byte, 1) != 1)
		err = -ECHILD;
	if (!err)
		err = worker_wait_until_asleep(worker->pid, end_ns);
	if (!err)
		*step = byte;
	return err;
}

void worker_end(struct worker *worker)
{
	if (worker->pid > 0)
		worker_kill(worker->pid);
	if (worker->from >= 0)
		close(worker->from);
	if (worker->to >= 0)
		close(worker->to);
	if (worker->measured)
		munmap(worker->measured, sizeof(*worker->measured));
}
