// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watched process, and the parent's side of the two pipes. The process stores times and sizes
 * in shared memory, because any system call between two steps would be measured.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/rss/rss_toucher.h"
#include "privilege/invoker.h"
#include "util/signals.h"
#include "util/time_ns.h"

/* The process's own diary. */
struct toucher_log {
	struct rss_marks marks[RSS_STEPS_MAX];
	unsigned int done; /* steps */
	int err;
};

static int toucher_make_step(struct mapping *mapping, const struct rss_step *step,
			     struct rss_marks *marks)
{
	int err = 0;

	marks->start_ns = clock_monotonic_ns();
	if (step->kind == RSS_MMAP)
		err = mapping_map(mapping);
	else if (step->kind == RSS_TOUCH)
		(void)mapping->data[step->offset];
	marks->end_ns = clock_monotonic_ns();
	return err;
}

/* Touches everything that a step needs before the first step: code, stack, and read buffers. */
static int toucher_warm_up(const struct sizes_files *files, struct mapping *mapping,
			   struct toucher_log *log)
{
	static const uint8_t bytes[1];
	struct mapping other = *mapping;
	const struct rss_step step = { .kind = RSS_TOUCH };
	int err;

	memset(log, 0, sizeof(*log));
	other.data = bytes;
	toucher_make_step(&other, &step, &log->marks[0]);
	err = proc_self_size_read(files, bytes, 1, &log->marks[0].after);
	if (!err)
		err = mapping_map(&other);
	if (!err)
		mapping_unmap(&other);
	return err;
}

static void toucher_make_steps(const struct sizes_files *files, struct mapping *mapping,
			       const struct rss_step *steps, unsigned int nr,
			       struct toucher_log *log)
{
	int err = 0;

	while (!err && log->done < nr) {
		struct rss_marks *marks = &log->marks[log->done];

		err = toucher_make_step(mapping, &steps[log->done], marks);
		if (!err)
			err = proc_self_size_read(files, mapping->data, mapping->pages,
						  &marks->after);
		if (!err)
			log->done++;
	}
	log->err = err;
}

/* The process is not watched before it holds: the preparation belongs to no step. */
static _Noreturn void toucher_be_child(int go, int ready, const struct mapping *mapping,
				       const struct rss_step *steps, unsigned int nr,
				       struct toucher_log *log)
{
	struct mapping own = *mapping;
	struct sizes_files files;
	char byte;
	int err;

	/*
	 * A signal ending pfdrive also ends this process, and so does a SIGBUS for an unreadable
	 * byte.
	 */
	signals_default();
	/* After the user change, the process's own files in /proc belong to root. */
	err = proc_self_size_open(&files);
	if (!err)
		err = invoker_become();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a user change resets it */
	if (!err)
		err = toucher_warm_up(&files, &own, log);
	log->err = err;
	close(ready);
	/* End of file: pfdrive no longer needs the process. */
	if (!err && read(go, &byte, 1) == 1)
		toucher_make_steps(&files, &own, steps, nr, log);
	_exit(0);
}

/* Waits until the child closes the other end, which no other process holds, or exits. */
static void toucher_wait_until_ready(int ready)
{
	ssize_t got;
	char byte;

	do
		got = read(ready, &byte, 1);
	while (got < 0 && errno == EINTR);
}

static int toucher_fork(struct rss_toucher *toucher, const int *go, const struct mapping *mapping,
			const struct rss_step *steps, unsigned int nr)
{
	int ready[2], err;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	toucher->pid = fork();
	if (!toucher->pid) {
		close(go[1]);
		close(ready[0]);
		toucher_be_child(go[0], ready[1], mapping, steps, nr, toucher->log);
	}
	err = toucher->pid < 0 ? -errno : 0;
	close(ready[1]);
	if (err)
		toucher->pid = 0;
	else
		toucher_wait_until_ready(ready[0]);
	close(ready[0]);
	return err;
}

int rss_toucher_hold(struct rss_toucher *toucher, const struct mapping *mapping,
		     const struct rss_step *steps, unsigned int nr)
{
	int go[2], err;

	*toucher = TOUCHER_NONE;
	toucher->log = mmap(NULL, sizeof(*toucher->log), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (toucher->log == MAP_FAILED) {
		toucher->log = NULL;
		return -errno;
	}
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	err = toucher_fork(toucher, go, mapping, steps, nr);
	close(go[0]);
	if (err)
		close(go[1]);
	else
		toucher->go = go[1];
	return err;
}

/* The process may be waiting for a disk. A signal to pfdrive also terminates it. */
static int toucher_wait_for(struct rss_toucher *toucher, int *status)
{
	while (waitpid(toucher->pid, status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
		if (signals_caught)
			kill(toucher->pid, SIGKILL);
	}
	toucher->pid = 0;
	return signals_caught ? -EINTR : 0;
}

int rss_toucher_go(struct rss_toucher *toucher, struct rss_step *steps, unsigned int nr,
		   unsigned int *step)
{
	unsigned int i;
	int status, err;

	/* If the process is already gone, it has left a reason. */
	if (write(toucher->go, "", 1) < 0 && errno != EPIPE)
		return -errno;
	err = toucher_wait_for(toucher, &status);
	if (err)
		return err;
	*step = toucher->log->done;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGBUS ? -EFAULT : -EINTR;
	if (toucher->log->err)
		return toucher->log->err;
	if (*step != nr)
		return -EPROTO;
	for (i = 0; i < nr; i++)
		steps[i].marks = toucher->log->marks[i];
	return 0;
}

void rss_toucher_close(struct rss_toucher *toucher)
{
	if (toucher->go >= 0)
		close(toucher->go);
	if (toucher->pid) {
		kill(toucher->pid, SIGKILL);
		waitpid(toucher->pid, NULL, 0);
	}
	if (toucher->log)
		munmap(toucher->log, sizeof(*toucher->log));
	*toucher = TOUCHER_NONE;
}
