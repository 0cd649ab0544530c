// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "processes.h"

static int visit_members(const char *folder, process_visitor visit, void *context)
{
	char path[4096];
	FILE *file;
	int pid, err = 0;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!err && fscanf(file, "%d", &pid) == 1)
		if (pid > 0)	/* 0: of another PID namespace */
			err = visit(context, pid);
	fclose(file);
	return err;
}

int processes_in_cgroup(const char *path, process_visitor visit, void *context)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree;
	FTSENT *entry;
	int err = 0;

	err = visit_members(path, visit, context);
	if (err)
		return err;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV, NULL);
	if (!tree)
		return -errno;
	while (!err && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_D && entry->fts_level > 0)
			err = visit_members(entry->fts_path, visit, context);
	fts_close(tree);
	return err == -ENOENT ? 0 : err;	/* a group that went meanwhile */
}

static bool maps_file(pid_t pid, dev_t dev, ino_t inode)
{
	unsigned int dev_major, dev_minor;
	unsigned long found;
	bool maps = false;
	char *line = NULL;
	size_t size = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!maps && getline(&line, &size, file) > 0)
		maps = sscanf(line, "%*s %*s %*s %x:%x %lu", &dev_major, &dev_minor, &found) == 3 &&
		       found == inode && dev_major == major(dev) && dev_minor == minor(dev);
	free(line);
	fclose(file);
	return maps;
}

int processes_that_map(dev_t dev, ino_t inode, process_visitor visit, void *context)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t pid;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = strtol(entry->d_name, NULL, 10);
		if (pid != getpid() && maps_file(pid, dev, inode))
			err = visit(context, pid);
	}
	closedir(proc);
	return err;
}

int process_counts(pid_t pid, struct process_counts *counts)
{
	const uint64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	uint64_t utime, stime;
	char path[64], text[1024];
	const char *rest;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	/* The name may hold anything, also brackets: the last one ends it. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
			    " %*u %" SCNu64 " %" SCNu64, &counts->minflt, &counts->majflt, &utime,
			    &stime) != 4)
		return -ESRCH;
	counts->utime_ns = utime * tick_ns;
	counts->stime_ns = stime * tick_ns;
	return 0;
}
