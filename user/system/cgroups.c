// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups v2: a private one for a run, and the counters of a cgroup's levels. All access is through
 * the files in the cgroups' folders.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/counters.h"
#include "system/cgroups.h"
#include "system/processes.h"
#include "util/signals.h"
#include "util/why.h"

/*
 * Creates a cgroup below the cgroup v2 mount, moves this process into it and back, and starts the
 * keeper. The keeper is this program again ("helper cgroup-reaper"). It reads a pipe until the last
 * writer is gone, so the cgroup is removed even after SIGKILL.
 */

#define MEMORY_CGROUP_MOUNT 200

#define GROUP_PREFIX "pfdrive-"

/* A killed process whose memory was swapped may take long to exit. */
#define REMOVE_TRIES	3000
#define REMOVE_PAUSE_US 10000

static int write_text(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd, err = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Fills in the mount point of cgroup v2. Returns 0 or a negative errno. */
static int memory_cgroup_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	int err = -ENOENT;

	if (!mounts)
		return -errno;
	while (err && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, "cgroup2"))
			err = (size_t)snprintf(path, size, "%s", mount->mnt_dir) < size ?
				      0 :
				      -ENAMETOOLONG;
	endmntent(mounts);
	return err;
}

static bool has_word(const char *folder, const char *name, const char *word)
{
	char path[PATH_MAX], line[256], *at;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		for (at = strtok(line, " \n"); at && !found; at = strtok(NULL, " \n"))
			found = !strcmp(at, word);
	fclose(file);
	return found;
}

static int find_home(struct memory_cgroup *group, const char *mount)
{
	char *cgroup = process_cgroup(getpid());

	if (!cgroup)
		return -errno;
	snprintf(group->home, sizeof(group->home), "%.200s%s", mount, cgroup);
	free(cgroup);
	return 0;
}

static int start_keeper(struct memory_cgroup *group)
{
	char *const arguments[] = { "pfdrive", "helper", "cgroup-reaper", group->path, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	/* A separate session: terminal signals must not reach the keeper. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	err = posix_spawn(&group->keeper, "/proc/self/exe", &actions, &attributes, arguments,
			  environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (err) {
		group->keeper = 0;
		close(ends[1]);
		return -err;
	}
	group->keeper_fd = ends[1];
	return 0;
}

static int set_limit(const struct memory_cgroup *group, uint64_t limit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, limit);
	return write_text(group->path, "memory.max", text);
}

/* Where to write the reason for a failure, and the alternative to suggest. */
struct refusal {
	const char *otherwise;
	struct why *why;
};

static int memory_cgroup_say(const struct refusal *refusal, int err, const char *what,
			     const char *where)
{
	const bool rights = err == -EACCES || err == -EPERM || err == -EROFS;

	return why_fail(refusal->why, err, "%s %s: %s; %s%s", what, where, strerror(-err),
			rights ? "run as root, or " : "", refusal->otherwise);
}

/* A controller is available in child groups only if the parent enables it. */
static int need_controller(const char *mount, const struct refusal *refusal)
{
	int err;

	if (!has_word(mount, "cgroup.controllers", "memory"))
		return why_fail(refusal->why, -EOPNOTSUPP,
				"cgroup v2 in %s has no memory controller; boot with it, or %s",
				mount, refusal->otherwise);
	if (has_word(mount, "cgroup.subtree_control", "memory"))
		return 0;
	err = write_text(mount, "cgroup.subtree_control", "+memory");
	return err ? memory_cgroup_say(refusal, err, "cannot use the memory controller of", mount) :
		     0;
}

static int memory_cgroup_make(struct memory_cgroup *group, uint64_t limit,
			      const struct refusal *refusal)
{
	char mount[MEMORY_CGROUP_MOUNT];
	int err = memory_cgroup_mount(mount, sizeof(mount));

	if (err)
		return why_fail(
			refusal->why, err,
			"cgroup v2 is not mounted; run mount -t cgroup2 none /sys/fs/cgroup, or %s",
			refusal->otherwise);
	err = need_controller(mount, refusal);
	if (err)
		return err;
	err = find_home(group, mount);
	if (err)
		return memory_cgroup_say(refusal, err, "cannot find this process's cgroup in",
					 mount);
	snprintf(group->path, sizeof(group->path), "%s/" GROUP_PREFIX "%d", mount, getpid());
	if (mkdir(group->path, 0755)) {
		err = memory_cgroup_say(refusal, -errno, "cannot make the cgroup", group->path);
		group->path[0] = '\0';
		return err;
	}
	err = set_limit(group, limit);
	return err ? memory_cgroup_say(refusal, err, "cannot limit the memory of", group->path) : 0;
}

static int disable_huge_pages(struct memory_cgroup *group)
{
	group->huge_pages_were = !prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
	return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) ? -errno : 0;
}

int memory_cgroup_enter(struct memory_cgroup *group, uint64_t limit, const char *otherwise,
			struct why *why)
{
	const struct refusal refusal = { .otherwise = otherwise, .why = why };
	int err = memory_cgroup_make(group, limit, &refusal);

	if (err)
		return err;
	err = start_keeper(group);
	if (!err)
		err = disable_huge_pages(group);
	if (!err)
		err = write_text(group->path, "cgroup.procs", "0");
	return err ? memory_cgroup_say(&refusal, err, "cannot enter the cgroup", group->path) : 0;
}

/* True if the keeper removed the group. */
static bool end_keeper(struct memory_cgroup *group)
{
	int status;
	pid_t got;

	if (!group->keeper)
		return false;
	close(group->keeper_fd);
	do
		got = waitpid(group->keeper, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == group->keeper && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Kills all members and removes the cgroup. */
static int memory_cgroup_remove(const char *path)
{
	unsigned int i;

	for (i = 0; i < REMOVE_TRIES; i++) {
		if (!rmdir(path) || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		write_text(path, "cgroup.kill", "1");
		usleep(REMOVE_PAUSE_US);
	}
	return -EBUSY;
}

int memory_cgroup_leave(struct memory_cgroup *group)
{
	int err = 0;

	if (!group->path[0])
		return 0;
	if (group->huge_pages_were)
		prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	/* Leave first: the keeper kills every process in the group. */
	if (group->home[0])
		err = write_text(group->home, "cgroup.procs", "0");
	if (err)
		return err; /* the keeper removes the group when this process exits */
	if (!end_keeper(group))
		err = memory_cgroup_remove(group->path);
	*group = MEMORY_GROUP_NONE;
	return err;
}

FILE *memory_cgroup_open(const struct memory_cgroup *group, const char *name)
{
	char path[PATH_MAX];

	if (!group->path[0])
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", group->path, name);
	return fopen(path, "re");
}

/* UINT64_MAX if the file has no number, or if the group has no such file (the root). */
static uint64_t number_of(const char *folder, const char *name)
{
	char path[PATH_MAX];
	uint64_t number = UINT64_MAX;
	FILE *file;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return UINT64_MAX;
	file = fopen(path, "re");
	if (!file)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &number) != 1)
		number = UINT64_MAX;
	fclose(file);
	return number;
}

static uint64_t limit_of(const char *folder)
{
	return number_of(folder, "memory.max");
}

uint64_t memory_cgroup_limit(void)
{
	uint64_t least = UINT64_MAX, limit;
	struct memory_cgroup group;
	char mount[MEMORY_CGROUP_MOUNT];

	if (memory_cgroup_mount(mount, sizeof(mount)) || find_home(&group, mount))
		return UINT64_MAX;
	while (strlen(group.home) >= strlen(mount)) {
		limit = limit_of(group.home);
		least = limit < least ? limit : least;
		*strrchr(group.home, '/') = '\0';
	}
	return least;
}

uint64_t memory_cgroup_peak(const char *folder, uint64_t *limit)
{
	char path[PATH_MAX];

	*limit = UINT64_MAX;
	if (!realpath(folder, path))
		return UINT64_MAX;
	while (path[0] && *limit == UINT64_MAX) {
		*limit = limit_of(path);
		if (*limit == UINT64_MAX)
			*strrchr(path, '/') = '\0';
	}
	return *limit == UINT64_MAX ? UINT64_MAX : number_of(path, "memory.peak");
}

int memory_cgroup_keep(const char *path)
{
	ssize_t got;
	char byte;

	if (!strstr(path, "/" GROUP_PREFIX))
		return -EINVAL;
	signals_ignore();
	do
		got = read(STDIN_FILENO, &byte, 1);
	while (got > 0 || (got < 0 && errno == EINTR));
	return memory_cgroup_remove(path);
}

/*
 * Reads cpu.max, cpu.stat, memory.high and memory.events.local at each level, and the PSI files at
 * the first. A missing file leaves its counters unknown: a controller may be off in the cgroup, or
 * PSI in the kernel.
 */

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
