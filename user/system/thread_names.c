// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the thread names in a running process. eBPF reports a name when a thread forks, executes,
 * exits or is renamed, so the name of a thread older than the recording comes from here.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/thread_names.h"

bool thread_name_read(pid_t pid, pid_t tid, char name[THREAD_NAME_SIZE])
{
	char path[64];
	FILE *file;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* The name may contain any character. The last one in the file is a newline. */
	length = fread(name, 1, THREAD_NAME_SIZE, file);
	fclose(file);
	if (!length)
		return false;
	memset(name + length - 1, 0, THREAD_NAME_SIZE - length + 1);
	return true;
}

int thread_names_visit(pid_t pid, thread_name_visitor visit, void *context)
{
	char path[64], name[THREAD_NAME_SIZE];
	struct dirent *entry;
	int err = 0;
	DIR *tasks;
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	while (!err && (entry = readdir(tasks))) {
		tid = strtol(entry->d_name, NULL, 10);
		if (tid > 0 && thread_name_read(pid, tid, name))
			err = visit(context, tid, name);
	}
	closedir(tasks);
	return err;
}
