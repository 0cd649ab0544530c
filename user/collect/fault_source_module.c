// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands go to the module's `session` file (<pfstat/control.h>), which stays open as long
 * as anything is watched. Records come from ring/cpuN, counters from `stats`. Each error of
 * the module becomes a clause with the reason and the remedy.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "collect/fault_source_module.h"
#include "model/counters.h"
#include "privilege/privilege.h"
#include "system/module_file.h"
#include "util/array.h"
#include "util/time_ns.h"
#include "util/why.h"

#define DEBUGFS "/sys/kernel/debug"
/* PROC_USER_INIT_INO: the initial user namespace's inode. */
#define INITIAL_USER_NAMESPACE 0xeffffffdU

struct module_source {
	struct fault_source source;
	int fd; /* for `session`, -1 if none */
};

/* NULL with errno. */
static FILE *module_read_file(const char *name)
{
	char path[MODULE_FILE_PATH_SIZE];

	module_file_path(path, name);
	return fopen(path, "re");
}

static struct module_source *module_source_of(const struct fault_source *source)
{
	return (struct module_source *)source;
}

/* Runs one <pfstat/control.h> command and returns the module's errno. */
__attribute__((format(printf, 2, 3))) static int module_command(const struct fault_source *source,
								const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(line))
		return -EOVERFLOW;
	return write(module_source_of(source)->fd, line, length) < 0 ? -errno : 0;
}

/* The module counts all faults at handle_mm_fault(). The counts come from the text file `faults`. */

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

static const struct fault_source_fault_ops module_faults = {
	.take = module_faults_take,
	.drop = module_faults_drop,
	.watch = module_faults_watch,
	.ignore = module_faults_ignore,
	.imitate = module_faults_imitate,
	.clear = module_faults_clear,
	.read = module_faults_read,
};

/* `targets` begins with "recorder PID COMMAND" or "recorder control". */
static void module_explain_busy(struct why *why)
{
	FILE *file = module_read_file(PFSTAT_FILE_TARGETS);
	char line[128] = "", holder[64] = "";
	int pid;

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
	}
	if (sscanf(line, "recorder %d %63[^\n]", &pid, holder) == 2)
		why_set(why, "the recorder is held by %s (pid %d); wait until it ends", holder,
			pid);
	else if (!strncmp(line, "recorder control", strlen("recorder control")))
		why_set(why,
			"the recorder is held by the targets in %s/%s; write 'stop' to that file "
			"first",
			module_file_folder(), PFSTAT_FILE_CONTROL);
	else
		why_set(why, "the recorder is held by another process; try again");
}

static bool is_debugfs(void)
{
	struct statfs statfs_buffer;

	return !statfs(DEBUGFS, &statfs_buffer) && statfs_buffer.f_type == DEBUGFS_MAGIC;
}

/* A process has all capabilities there, and none counts outside. */
static bool in_user_namespace(void)
{
	struct stat stat_buffer;

	return !stat("/proc/self/ns/user", &stat_buffer) &&
	       stat_buffer.st_ino != INITIAL_USER_NAMESPACE;
}

/* Root is refused by the kernel's lockdown, or by the module, which requires a capability. */
static void module_explain_refusal(struct why *why)
{
	char names[CAPABILITY_NAMES_SIZE];

	if (lockdown_level() && !strcmp(module_file_folder(), PFSTAT_DEBUGFS))
		why_set(why,
			"the kernel is locked down (%s), which closes %s, and there is no %s; "
			"make the host's devices visible here",
			lockdown_level(), PFSTAT_DEBUGFS, PFSTAT_DEVICES);
	else if (capabilities_lack(CAPABILITY(CAP_PERFMON), names, sizeof(names)))
		why_set(why, "the pfstat module requires %s; run pfdrive with it", names);
	else if (in_user_namespace())
		why_set(why, "the pfstat module refuses processes in a user namespace; run "
			     "pfdrive outside it, as root");
	else
		why_set(why,
			"cannot open %s/%s: permission denied, although root owns it; run "
			"pfdrive doctor",
			module_file_folder(), PFSTAT_FILE_SESSION);
}

/* A build has the module next to pfdrive. Otherwise make install puts it where modprobe looks. */
static void module_explain_absence(struct why *why)
{
	char path[256], *end;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof("pfstat.ko"));

	path[length < 0 ? 0 : length] = '\0';
	end = strrchr(path, '/');
	if (end)
		strcpy(end + 1, "pfstat.ko");
	why_set(why,
		"the pfstat module is not loaded; run '%s%s' as root%s%s; if that fails, run "
		"pfdrive doctor",
		end && !access(path, F_OK) ? "insmod " : "modprobe ",
		end && !access(path, F_OK) ? path : "pfstat",
		geteuid() ? ", and pfdrive with sudo" : "",
		lockdown_level() ? " (the kernel is locked down and requires a signed module; see "
				   "Documentation/user/security.rst)" :
				   "");
}

static void module_explain_open(int err, struct why *why)
{
	if (err == -EBUSY)
		module_explain_busy(why);
	else if (access("/sys/module/pfstat", F_OK))
		module_explain_absence(why);
	else if (err == -EACCES || geteuid())
		why_set(why,
			"the pfstat module requires root or CAP_PERFMON; run pfdrive with sudo");
	else if (err == -ENOENT && !is_debugfs())
		why_set(why,
			"there is no %s, and debugfs is not mounted; run mount -t debugfs none %s",
			PFSTAT_DEVICES, DEBUGFS);
	else if (err == -EPERM)
		module_explain_refusal(why);
	else
		why_set(why, "cannot open %s/%s: %s", module_file_folder(), PFSTAT_FILE_SESSION,
			strerror(-err));
}

static int module_set_options(const struct fault_source *source,
			      const struct fault_source_options *options, struct why *why)
{
	int err = 0;

	if (options->ring_size)
		err = module_command(source, "ring_size %" PRIu64, options->ring_size);
	if (!err && !options->fault_around)
		err = module_command(source, "fault_around off");
	if (!err && options->only_fd >= 0)
		err = module_command(source, "only %d", options->only_fd);
	if (err)
		return why_fail(
			why, err,
			"the module refuses an option: %s; load the module that was built with "
			"this pfdrive",
			strerror(-err));
	return 0;
}

static void module_close_rings(struct fault_source *source)
{
	while (source->nr_rings)
		record_ring_close(&source->rings[--source->nr_rings]);
	free(source->rings);
	source->rings = NULL;
}

static void module_close(struct fault_source *source)
{
	struct module_source *module = module_source_of(source);

	module_close_rings(source);
	if (module->fd >= 0)
		close(module->fd);
	free(module);
}

static int module_open(struct fault_source **opened, const struct fault_source_options *options,
		       struct why *why)
{
	struct module_source *module = calloc(1, sizeof(*module));
	int err;

	if (!module)
		return why_fail(why, -ENOMEM, "out of memory");
	module->source.ops = &fault_source_module;
	module->fd = module_file_open(PFSTAT_FILE_SESSION, O_RDWR);
	if (module->fd < 0) {
		err = module->fd;
		module_explain_open(err, why);
	} else {
		err = module_set_options(&module->source, options, why);
	}
	if (err)
		module_close(&module->source);
	else
		*opened = &module->source;
	return err;
}

static int module_explain_target(int err, const char *what, struct why *why)
{
	switch (err) {
	case 0:
		break;
	case -EOPNOTSUPP:
		why_set(why,
			"the module cannot watch %s: it does not support this kind of file; use "
			"one on a disk's file system",
			what);
		break;
	case -ENOMEM:
		why_set(why,
			"cannot allocate the module's rings, one for each CPU: they exceed the "
			"memory that the module may use (parameter ring_limit); use a smaller "
			"--ring-size");
		break;
	case -ENODEV:
		why_set(why,
			"the module cannot watch %s: its kprobes do not work; the kernel log "
			"(dmesg) states the reason and the remedy",
			what);
		break;
	case -ESRCH:
		why_set(why, "there is no %s", what);
		break;
	default:
		why_set(why, "the module cannot watch %s: %s", what, strerror(-err));
	}
	return err;
}

static int module_hook_file(struct fault_source *source, int fd, const char *path, struct why *why)
{
	return module_explain_target(module_command(source, "file %d", fd), path, why);
}

/* The module has rings only while it has a target. */
static int module_hook_nothing(struct fault_source *source, struct why *why)
{
	return module_explain_target(module_command(source, "pid %d now", getpid()),
				     "pfdrive itself", why);
}

static int module_follow(struct fault_source *source, pid_t pid, bool existing, struct why *why)
{
	int err = module_command(source, "follow %d", pid);
	char what[32];

	(void)existing;
	snprintf(what, sizeof(what), "process %d", pid);
	if (err != -EPERM)
		return module_explain_target(err, what, why);
	return why_fail(why, err, "%s is a kernel thread: it has no user memory", what);
}

static int module_open_rings(struct fault_source *source, int nr_cpus)
{
	char path[128];
	int cpu, err;

	source->rings = calloc(nr_cpus, sizeof(*source->rings));
	if (!source->rings)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		snprintf(path, sizeof(path), "%s/%s/cpu%d", module_file_folder(), PFSTAT_DIR_RING,
			 cpu);
		err = record_ring_open(&source->rings[source->nr_rings], path);
		if (err == -ENODATA || err == -ENOENT)
			continue; /* a CPU missing in the machine */
		if (err)
			return err;
		source->nr_rings++;
	}
	return source->nr_rings ? 0 : -ENODATA;
}

static int module_start(struct fault_source *source)
{
	int err = module_open_rings(source, get_nprocs_conf());

	if (err)
		module_close_rings(source);
	return err;
}

/* -EPERM without the right to load eBPF. */
static int module_wrapper(const struct fault_source *source, uint64_t *address)
{
	char text[64];
	ssize_t length = pread(module_source_of(source)->fd, text, sizeof(text) - 1, 0);

	if (length < 0)
		return -errno;
	text[length] = '\0';
	return sscanf(text, "wrapper %" SCNx64, address) == 1 ? 0 : -EPROTO;
}

/* The module prints them by process, from the lowest address on. */
static int module_mappings(const struct fault_source *source, fault_source_sink sink, void *context)
{
	FILE *file = module_read_file(PFSTAT_FILE_TARGETS);
	struct hooked_mapping mapping;
	struct pfstat_mapping event;
	size_t size = 0;
	char *line = NULL;
	int err = 0;

	(void)source;
	if (!file)
		return -errno;
	while (!err && getline(&line, &size, file) > 0) {
		if (!hooked_mapping_parse(&mapping, line) || !mapping.state.known)
			continue;
		event = (struct pfstat_mapping){
			.event = {
				.type = PFSTAT_EVENT_MAPPING, .size = sizeof(event),
				.pid = mapping.pid, .tid = mapping.pid,
				.ns = clock_monotonic_ns(),
			},
			.address = mapping.start,
			.bytes = mapping.end - mapping.start,
			.advice = mapping.state.advice,
			.ra_pages = mapping.state.ra_pages,
			.mmap_miss = mapping.state.mmap_miss,
		};
		err = sink(context, &event);
	}
	free(line);
	fclose(file);
	return err;
}

static int module_stop(struct fault_source *source)
{
	return module_command(source, "stop");
}

static void module_read_counter(const char *line, const char *name, uint64_t *counter)
{
	const size_t length = strlen(name);
	uint64_t value;

	if (!strncmp(line, name, length) && sscanf(line + length, " %" SCNu64, &value) == 1)
		*counter = value;
}

static int module_counters(const struct fault_source *source,
			   struct fault_source_counters *counters)
{
	FILE *file = module_read_file(PFSTAT_FILE_STATS);
	char line[256];
	int err;

	(void)source;
	*counters = (struct fault_source_counters){
		.calls = COUNT_NA,
		.lost = COUNT_NA,
		.call_cost_ps = COUNT_NA,
		.inside_ps = COUNT_NA,
	};
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		module_read_counter(line, "calls ", &counters->calls);
		module_read_counter(line, "lost ", &counters->lost);
		module_read_counter(line, "call_cost_ps ", &counters->call_cost_ps);
		module_read_counter(line, "inside_ps ", &counters->inside_ps);
	}
	/* fgets() does not distinguish a failed read from the end. */
	err = ferror(file) ? -errno : 0;
	fclose(file);
	if (!err && (counters->calls == COUNT_NA || counters->lost == COUNT_NA))
		err = -EPROTO;
	if (err) {
		counters->calls = COUNT_NA;
		counters->lost = COUNT_NA;
	}
	return err;
}

/* See module/mm_fault_entry.h. */
#ifdef __x86_64__
#define COUNTS_FAULTS true
#else
#define COUNTS_FAULTS false
#endif

const struct fault_source_ops fault_source_module = {
	.name = "the module",
	.word = "module",
	.faults = COUNTS_FAULTS ? &module_faults : NULL,
	.open = module_open,
	.hook_file = module_hook_file,
	.hook_nothing = module_hook_nothing,
	.follow = module_follow,
	.start = module_start,
	.wrapper = module_wrapper,
	.mappings = module_mappings,
	.stop = module_stop,
	.counters = module_counters,
	.close = module_close,
};
