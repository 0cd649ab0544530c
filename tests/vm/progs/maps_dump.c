// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the reports from user/collect/perf_maps.h and perf_counters.h as text:
 *
 *	maps_dump run COMMAND…	of a command, from before its exec
 *	maps_dump pid PID	of a running process: prints "ready" and runs until a
 *				line comes on stdin
 *
 * Lines: "map NS PID TID ADDRESS BYTES PGOFF DEV INODE PROT FLAGS PATH", then
 * "lost N", "perf FAULTS MINOR MAJOR" (-: n/a), "proc MINFLT MAJFLT" (pid only: the
 * growth in /proc/PID/stat since the watch began) and "rusage MINFLT MAJFLT"
 * (run only).
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/collect/perf_counters.h"
#include "user/collect/perf_maps.h"
#include "user/model/counters.h"
#include "user/system/processes.h"

static struct perf_maps *maps;
static struct perf_faults *counters;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "maps_dump: %s: %s\n", what, strerror(-err));
	exit(1);
}

static int print_map(void *context, const struct item_map *map)
{
	(void)context;
	if (strlen(map->path) + 1 != map->path_bytes)
		return -EINVAL;
	printf("map %" PRIu64 " %u %u %#" PRIx64 " %" PRIu64 " %" PRIu64 " %u %" PRIu64
	       " %u %u %s\n",
	       map->ns, map->pid, map->tid, map->address, map->bytes, map->pgoff, map->dev,
	       map->inode, map->prot, map->flags, map->path);
	return 0;
}

/* Drains whenever a buffer is half full, until fd is readable. */
static void drain_until(int fd)
{
	struct pollfd polls[] = {
		{ .fd = perf_maps_fd(maps), .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	while (!polls[1].revents) {
		if (poll(polls, 2, -1) < 0)
			must(-errno, "poll");
		if (polls[0].revents)
			must(perf_maps_drain(maps, print_map, NULL), "drain");
	}
}

static void print_count(uint64_t count)
{
	if (count == COUNT_NA)
		printf(" -");
	else
		printf(" %" PRIu64, count);
}

static void finish(void)
{
	uint64_t faults, minor, major;

	perf_faults_read(counters, &faults, &minor, &major);
	perf_maps_stop(maps);
	must(perf_maps_drain(maps, print_map, NULL), "drain");
	printf("lost");
	print_count(perf_maps_lost(maps));
	printf("\nperf");
	print_count(faults);
	print_count(minor);
	print_count(major);
	printf("\n");
}

static void run(char **command)
{
	struct rusage usage;
	int go[2], status;
	char byte = 0;
	pid_t pid;

	must(pipe(go) ? -errno : 0, "pipe");
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	must(perf_maps_watch(maps, pid, false), "watch");
	must(perf_faults_watch(counters, pid, true), "count");
	must(write(go[1], &byte, 1) == 1 ? 0 : -EPIPE, "go");
	drain_until(pidfd_open(pid, 0));
	waitpid(pid, &status, 0);
	finish();
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("rusage %ld %ld\n", usage.ru_minflt, usage.ru_majflt);
	if (status)
		exit(1);
}

static void attach(pid_t pid)
{
	struct process_counts before, after;

	must(perf_maps_watch(maps, pid, true), "watch");
	must(perf_faults_watch(counters, pid, true), "count");
	must(process_counts(pid, &before), "stat");
	printf("ready\n");
	fflush(stdout);
	drain_until(STDIN_FILENO);
	must(process_counts(pid, &after), "stat");
	finish();
	printf("proc %" PRIu64 " %" PRIu64 "\n", after.minflt - before.minflt,
	       after.majflt - before.majflt);
}

int main(int argc, char **argv)
{
	struct why why;

	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0); /* the command also writes to stdout */
	if (perf_maps_open(&maps, &why)) {
		fprintf(stderr, "maps_dump: %s\n", why.text);
		return 1;
	}
	must(perf_faults_open(&counters), "counters");
	if (!strcmp(argv[1], "run"))
		run(argv + 2);
	else
		attach(strtol(argv[2], NULL, 10));
	perf_faults_close(counters);
	perf_maps_close(maps);
	return 0;
}
