// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of the module source that counts all faults at handle_mm_fault(). Commands go to the
 * module's `session` file, and the counts come from the text file `faults`.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pfstat/control.h>

#include "collect/module_faults.h"
#include "system/module_file.h"
#include "util/array.h"
#include "util/why.h"

static const char *const kind_names[PFSTAT_NR_FAULT_KINDS] = PFSTAT_FAULT_KIND_NAMES;
static const char *const origin_names[PFSTAT_NR_ORIGINS] = PFSTAT_FAULT_ORIGIN_NAMES;
static const char *const outcome_names[PFSTAT_NR_OUTCOMES] = PFSTAT_FAULT_OUTCOME_NAMES;

static const char *module_faults_reason(int err)
{
	switch (err) {
	case -EBUSY:
		return "another tool holds handle_mm_fault()";
	case -EOPNOTSUPP:
		return "this kernel allows no direct call at handle_mm_fault()";
	case -EPERM:
		return "the module's parameter hold_faults is off";
	case -EINVAL:
		return "the module is older than pfdrive";
	default:
		return strerror(-err);
	}
}

static int module_faults_take(struct fault_source *source, struct why *why)
{
	int err = module_command(source, "faults on");

	return err ? why_fail(why, err, "%s", module_faults_reason(err)) : 0;
}

static int module_faults_drop(struct fault_source *source)
{
	return module_command(source, "faults off");
}

static int module_faults_watch(struct fault_source *source, pid_t id, enum pfstat_target how)
{
	static const char *const names[] = {
		[PFSTAT_TARGET_PROCESS] = "process",
		[PFSTAT_TARGET_THREAD] = "thread",
		[PFSTAT_TARGET_FOLLOW] = "follow",
	};

	return module_command(source, "watch %d %s", id, names[how]);
}

static int module_faults_ignore(struct fault_source *source, pid_t id)
{
	return module_command(source, "ignore %d", id);
}

static int module_faults_imitate(struct fault_source *source, const volatile void *address)
{
	return module_command(source, "handler %" PRIuPTR, (uintptr_t)address);
}

static int module_faults_clear(struct fault_source *source)
{
	return module_command(source, "clear");
}

static int name_index(const char *name, const char *const *names, int size)
{
	int i = 0;

	while (i < size && strcmp(name, names[i]))
		i++;
	return i < size ? i : -1;
}

/* "KIND ORIGIN OUTCOME COUNT NS". Other lines are ignored. */
static void module_faults_read_count(const char *line, struct fault_source_faults *faults)
{
	char kind_name[16], origin_name[16], outcome_name[16];
	struct pfstat_fault_value value;
	int kind, origin, outcome;
	uint64_t count, total_ns;

	if (sscanf(line, "%15s %15s %15s %" SCNu64 " %" SCNu64, kind_name, origin_name,
		   outcome_name, &count, &total_ns) != 5)
		return;
	kind = name_index(kind_name, kind_names, ARRAY_SIZE(kind_names));
	origin = name_index(origin_name, origin_names, ARRAY_SIZE(origin_names));
	outcome = name_index(outcome_name, outcome_names, ARRAY_SIZE(outcome_names));
	if (kind < 0 || origin < 0 || outcome < 0)
		return;
	value = (struct pfstat_fault_value){ .count = count, .total_ns = total_ns };
	faults->values[PFSTAT_FAULT_INDEX(kind, origin, outcome)] = value;
}

static void module_faults_read_line(const char *line, struct fault_source_faults *faults,
				    unsigned int *numbers)
{
	uint64_t number;
	int64_t missed;
	char word[8];

	if (sscanf(line, "stored %" SCNu64, &faults->stored) == 1)
		++*numbers;
	else if (sscanf(line, "lost %" SCNu64, &faults->lost) == 1)
		return;
	else if (sscanf(line, "missed_threads %" SCNu64, &number) == 1 ||
		 sscanf(line, "missed_children %" SCNu64, &number) == 1)
		faults->unwatched += number;
	else if (sscanf(line, "missed_minor %" SCNd64, &missed) == 1)
		faults->missed.minor = missed;
	else if (sscanf(line, "missed_major %" SCNd64, &missed) == 1)
		faults->missed.major = missed;
	else if (sscanf(line, "swap %7s", word) == 1 && !strcmp(word, "yes"))
		faults->has_swap = true;
	else if (sscanf(line, "write %7s", word) == 1 && !strcmp(word, "yes"))
		faults->has_write = true;
	else
		module_faults_read_count(line, faults);
}

static int module_faults_read(const struct fault_source *source, struct fault_source_faults *faults)
{
	char path[MODULE_FILE_PATH_SIZE], line[256];
	unsigned int numbers = 0;
	FILE *file;
	int err;

	(void)source;
	module_file_path(path, PFSTAT_FILE_FAULTS);
	file = fopen(path, "re");
	memset(faults, 0, sizeof(*faults));
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		module_faults_read_line(line, faults, &numbers);
	/* fgets() does not distinguish a failed read from the end. */
	err = ferror(file) ? -errno : 0;
	fclose(file);
	return err || numbers ? err : -EPROTO;
}

const struct fault_source_fault_ops module_faults = {
	.take = module_faults_take,
	.drop = module_faults_drop,
	.watch = module_faults_watch,
	.ignore = module_faults_ignore,
	.imitate = module_faults_imitate,
	.clear = module_faults_clear,
	.read = module_faults_read,
};
