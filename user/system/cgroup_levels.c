// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads cpu.max, cpu.stat, memory.high and memory.events.local at each level, and the PSI files at
 * the first. A missing file leaves its counters unknown: a controller may be off in the cgroup, or
 * PSI in the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/counters.h"
#include "system/cgroup_levels.h"
#include "system/memory_cgroup.h"
#include "system/processes.h"

#define NS_PER_US 1000

static FILE *cgroup_levels_open(const char *folder, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* Returns the number after @key in a file with lines "KEY NUMBER", or COUNT_NA. */
static uint64_t cgroup_levels_keyed(const char *folder, const char *name, const char *key)
{
	FILE *file = cgroup_levels_open(folder, name);
	uint64_t number, found = COUNT_NA;
	char word[64];

	if (!file)
		return COUNT_NA;
	while (found == COUNT_NA && fscanf(file, "%63s %" SCNu64, word, &number) == 2)
		if (!strcmp(word, key))
			found = number;
	fclose(file);
	return found;
}

/* "max" is COUNT_NA. */
static void cgroup_levels_quota(struct cgroup_level *level, const char *folder)
{
	FILE *file = cgroup_levels_open(folder, "cpu.max");
	char quota[24];
	uint64_t period_us;

	level->quota_ns = COUNT_NA;
	level->period_ns = COUNT_NA;
	if (!file)
		return;
	if (fscanf(file, "%23s %" SCNu64, quota, &period_us) == 2) {
		level->period_ns = period_us * NS_PER_US;
		if (strcmp(quota, "max"))
			level->quota_ns = strtoull(quota, NULL, 10) * NS_PER_US;
	}
	fclose(file);
}

static uint64_t cgroup_levels_high(const char *folder)
{
	FILE *file = cgroup_levels_open(folder, "memory.high");
	uint64_t bytes = COUNT_NA;

	if (!file)
		return COUNT_NA;
	if (fscanf(file, "%" SCNu64, &bytes) != 1)
		bytes = COUNT_NA;
	fclose(file);
	return bytes;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12", the same for full, in microseconds. */
static void cgroup_levels_pressure(const char *folder, const char *name, uint64_t *some_ns,
				   uint64_t *full_ns)
{
	FILE *file = cgroup_levels_open(folder, name);
	char line[256], kind[8];
	uint64_t us;

	*some_ns = COUNT_NA;
	*full_ns = COUNT_NA;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%7s avg10=%*s avg60=%*s avg300=%*s total=%" SCNu64, kind, &us) !=
		    2)
			continue;
		if (!strcmp(kind, "some"))
			*some_ns = us * NS_PER_US;
		else if (!strcmp(kind, "full"))
			*full_ns = us * NS_PER_US;
	}
	if (file)
		fclose(file);
}

static void cgroup_levels_read_one(struct cgroup_level *level, const char *folder)
{
	const uint64_t us = cgroup_levels_keyed(folder, "cpu.stat", "throttled_usec");
	struct stat status;

	*level = (struct cgroup_level){
		.length = strlen(folder),
		.periods = cgroup_levels_keyed(folder, "cpu.stat", "nr_periods"),
		.throttled = cgroup_levels_keyed(folder, "cpu.stat", "nr_throttled"),
		.throttled_ns = us == COUNT_NA ? COUNT_NA : us * NS_PER_US,
		.high_bytes = cgroup_levels_high(folder),
		.high = cgroup_levels_keyed(folder, "memory.events.local", "high"),
		.max = cgroup_levels_keyed(folder, "memory.events.local", "max"),
		.oom_kill = cgroup_levels_keyed(folder, "memory.events.local", "oom_kill"),
	};
	cgroup_levels_quota(level, folder);
	if (!stat(folder, &status))
		level->inode = status.st_ino;
}

/* The root has no such file. It has no limits, and its pressure is the machine's. */
static bool cgroup_levels_exists(const char *folder)
{
	FILE *file = cgroup_levels_open(folder, "cgroup.events");

	if (!file)
		return false;
	fclose(file);
	return true;
}

void cgroup_levels_read(struct cgroup_levels *levels, const char *folder)
{
	char path[PATH_MAX];

	*levels = (struct cgroup_levels){ 0 };
	if (!realpath(folder, path) || strlen(path) >= sizeof(levels->path) ||
	    !cgroup_levels_exists(path))
		return;
	strcpy(levels->path, path);
	cgroup_levels_pressure(path, "cpu.pressure", &levels->cpu_some_ns, &levels->cpu_full_ns);
	cgroup_levels_pressure(path, "memory.pressure", &levels->memory_some_ns,
			       &levels->memory_full_ns);
	while (path[0] && levels->nr < CGROUP_LEVELS && cgroup_levels_exists(path)) {
		cgroup_levels_read_one(&levels->levels[levels->nr++], path);
		*strrchr(path, '/') = '\0';
	}
}

int cgroup_levels_folder(char *folder, pid_t pid)
{
	char mount[MEMORY_CGROUP_MOUNT], path[PATH_MAX], real[PATH_MAX];
	char *cgroup = process_cgroup(pid);
	int err = cgroup ? memory_cgroup_mount(mount, sizeof(mount)) : -errno;

	if (!err)
		err = (size_t)snprintf(path, sizeof(path), "%s%s", mount, cgroup) < sizeof(path) ?
			      0 :
			      -ENAMETOOLONG;
	free(cgroup);
	if (!err && !realpath(path, real))
		err = -errno;
	if (!err && strlen(real) >= CGROUP_PATH)
		err = -ENAMETOOLONG;
	if (!err)
		strcpy(folder, real);
	return err;
}
