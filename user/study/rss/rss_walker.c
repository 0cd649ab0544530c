// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "study/rss/rss_walker.h"
#include "util/signals.h"
#include "util/time_ns.h"

/* The process's own diary. */
struct walk {
	struct touch_marks marks[TOUCH_STEPS_MAX];
	unsigned int done;	/* steps */
	int err;
};

static int make_step(struct mapping *mapping, const struct touch_step *step,
		     struct touch_marks *marks)
{
	int err = 0;

	marks->start_ns = clock_monotonic_ns();
	if (step->kind == TOUCH_MMAP)
		err = mapping_map(mapping);
	else if (step->kind == TOUCH_BYTE)
		(void)mapping->data[step->offset];
	marks->end_ns = clock_monotonic_ns();
	return err;
}

/* All that a step needs is touched before the first one: code, stack, and what is read into. */
static int warm_up(const struct sizes_files *files, struct mapping *mapping, struct walk *walk)
{
	static const uint8_t bytes[1];
	struct mapping other = *mapping;
	const struct touch_step step = { .kind = TOUCH_BYTE };
	int err;

	memset(walk, 0, sizeof(*walk));
	other.data = bytes;
	make_step(&other, &step, &walk->marks[0]);
	err = sizes_read(files, bytes, 1, &walk->marks[0].after);
	if (!err)
		err = mapping_map(&other);
	if (!err)
		mapping_unmap(&other);
	return err;
}

static void make_steps(const struct sizes_files *files, struct mapping *mapping,
		       const struct touch_step *steps, unsigned int nr, struct walk *walk)
{
	int err = 0;

	while (!err && walk->done < nr) {
		struct touch_marks *marks = &walk->marks[walk->done];

		err = make_step(mapping, &steps[walk->done], marks);
		if (!err)
			err = sizes_read(files, mapping->data, mapping->pages, &marks->after);
		if (!err)
			walk->done++;
	}
	walk->err = err;
}

/* Before it holds, what it does is none of the steps': nobody watches it yet. */
static _Noreturn void be_child(int go, int ready, const struct mapping *mapping,
			       const struct touch_step *steps, unsigned int nr, struct walk *walk)
{
	struct mapping own = *mapping;
	struct sizes_files files;
	char byte;
	int err;

	/* What ends pfdrive ends this process; so does a byte that cannot be had. */
	signals_default();
	/* Its own files in /proc are root's as soon as it is another user. */
	err = sizes_open(&files);
	if (!err)
		err = invoker_become();
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a change of user forgets it */
	if (!err)
		err = warm_up(&files, &own, walk);
	walk->err = err;
	close(ready);
	/* The end of file: pfdrive has no use for it any more. */
	if (!err && read(go, &byte, 1) == 1)
		make_steps(&files, &own, steps, nr, walk);
	_exit(0);
}

/* Until the child, the only one that has the other end, closes it, or ends. */
static void wait_until_ready(int ready)
{
	ssize_t got;
	char byte;

	do
		got = read(ready, &byte, 1);
	while (got < 0 && errno == EINTR);
}

int walker_hold(struct walker *walker, const struct mapping *mapping,
		const struct touch_step *steps, unsigned int nr)
{
	int go[2], ready[2], err;

	*walker = WALKER_NONE;
	walker->walk = mmap(NULL, sizeof(*walker->walk), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (walker->walk == MAP_FAILED) {
		walker->walk = NULL;
		return -errno;
	}
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(ready, O_CLOEXEC)) {
		err = -errno;
		goto close_go;
	}
	walker->pid = fork();
	if (!walker->pid) {
		close(go[1]);
		close(ready[0]);
		be_child(go[0], ready[1], mapping, steps, nr, walker->walk);
	}
	err = walker->pid < 0 ? -errno : 0;
	close(ready[1]);
	if (!err)
		wait_until_ready(ready[0]);
	close(ready[0]);
	if (err)
		goto close_go;
	close(go[0]);
	walker->go = go[1];
	return 0;

close_go:
	walker->pid = 0;
	close(go[0]);
	close(go[1]);
	return err;
}

/* A signal to pfdrive ends the process, too, which may wait for a disk. */
static int wait_for(struct walker *walker, int *status)
{
	while (waitpid(walker->pid, status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
		if (signals_caught)
			kill(walker->pid, SIGKILL);
	}
	walker->pid = 0;
	return signals_caught ? -EINTR : 0;
}

int walker_go(struct walker *walker, struct touch_step *steps, unsigned int nr,
	      unsigned int *step)
{
	unsigned int i;
	int status, err;

	/* One that is gone already has left its reason. */
	if (write(walker->go, "", 1) < 0 && errno != EPIPE)
		return -errno;
	err = wait_for(walker, &status);
	if (err)
		return err;
	*step = walker->walk->done;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGBUS ? -EFAULT : -EINTR;
	if (walker->walk->err)
		return walker->walk->err;
	if (*step != nr)
		return -EPROTO;
	for (i = 0; i < nr; i++)
		steps[i].marks = walker->walk->marks[i];
	return 0;
}

void walker_close(struct walker *walker)
{
	if (walker->go >= 0)
		close(walker->go);
	if (walker->pid) {
		kill(walker->pid, SIGKILL);
		waitpid(walker->pid, NULL, 0);
	}
	if (walker->walk)
		munmap(walker->walk, sizeof(*walker->walk));
	*walker = WALKER_NONE;
}
