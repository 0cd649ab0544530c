// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists /proc/PID/task before and after the action, and starts again if a thread appeared
 * in between. At the end each thread has been visited exactly once, or the caller gets an
 * error.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "system/proc_threads.h"
#include "util/array.h"

#define MAX_TRIES 20

struct tids {
	pid_t *ids;
	size_t count, room;
};

static int proc_threads_append(struct tids *tids, pid_t tid)
{
	if (array_reserve((void **)&tids->ids, tids->count, &tids->room, sizeof(tid)))
		return -ENOMEM;
	tids->ids[tids->count++] = tid;
	return 0;
}

/* Returns -ESRCH if the process does not exist or has exited. */
static int tids_read(struct tids *tids, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	int err = 0;
	pid_t tid;
	DIR *tasks;

	tids->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(tasks))) {
		tid = strtol(entry->d_name, NULL, 10);
		if (tid > 0)
			err = proc_threads_append(tids, tid);
	}
	closedir(tasks);
	return err || tids->count ? err : -ESRCH;
}

static int compare(const void *a, const void *b)
{
	const pid_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static bool any_new(const struct tids *before, const struct tids *after)
{
	size_t i;

	qsort(before->ids, before->count, sizeof(*before->ids), compare);
	for (i = 0; i < after->count; i++)
		if (!bsearch(&after->ids[i], before->ids, before->count, sizeof(*before->ids),
			     compare))
			return true;
	return false;
}

static int begin_all(const struct tids *tids, const struct tids_action *action, void *context)
{
	size_t i, begun = 0;
	int err;

	for (i = 0; i < tids->count; i++) {
		err = action->begin(context, tids->ids[i]);
		if (!err)
			begun++;
		else if (err != -ESRCH)
			return err;
	}
	return begun ? 0 : -ESRCH;
}

static int try_each(pid_t pid, struct tids *before, struct tids *after,
		    const struct tids_action *action, void *context)
{
	int err = tids_read(before, pid);

	if (!err)
		err = begin_all(before, action, context);
	if (!err)
		err = tids_read(after, pid);
	return !err && any_new(before, after) ? -EAGAIN : err;
}

int proc_threads_each(pid_t pid, const struct tids_action *action, void *context)
{
	struct tids before = { 0 }, after = { 0 };
	int err = -EAGAIN, try;

	for (try = 0; try < MAX_TRIES && err == -EAGAIN; try++) {
		if (try)
			action->undo(context);
		err = try_each(pid, &before, &after, action, context);
	}
	if (err && err != -EAGAIN)
		action->undo(context);
	free(before.ids);
	free(after.ids);
	return err;
}
