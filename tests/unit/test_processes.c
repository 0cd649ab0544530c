// SPDX-License-Identifier: GPL-2.0-only
/* Processes in a cgroup, for which a folder stands in, and processes that map a file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "user/system/processes.h"

struct visited {
	pid_t pids[16];
	unsigned int count;
	const char *removed; /* removes a group at the first visit */
};

static int visit(void *context, pid_t pid)
{
	struct visited *visited = context;

	if (visited->removed)
		unlink(visited->removed);
	visited->removed = NULL;
	visited->pids[visited->count++] = pid;
	return visited->count == 16 ? -E2BIG : 0;
}

static bool has(const struct visited *visited, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < visited->count; i++)
		if (visited->pids[i] == pid)
			return true;
	return false;
}

static void make_group(const char *path, int pid)
{
	char procs[128];
	FILE *file;

	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	file = fopen(procs, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "%d\n", pid);
	fclose(file);
}

/* The working directory contains "top", with members 1 to 5 in it and below it. */
static void make_groups(void)
{
	char folder[] = "/tmp/test_processes.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	make_group("top", 1);
	make_group("top/a", 2);
	make_group("top/a/deep", 3);
	make_group("top/b", 4);
	make_group("top/c", 5);
}

static void remove_groups(void)
{
	char folder[64], command[128];

	ck_assert_ptr_nonnull(getcwd(folder, sizeof(folder)));
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

TEST(test_relative_path_starts_at_the_cgroup_root)
{
	struct visited visited = { 0 };
	pid_t pid;

	make_groups();
	ck_assert_int_eq(processes_in_cgroup("top", visit, &visited), 0);
	ck_assert_uint_eq(visited.count, 5);
	for (pid = 1; pid <= 5; pid++)
		ck_assert(has(&visited, pid));
	remove_groups();
}

TEST(test_a_removed_group_does_not_stop_the_walk)
{
	struct visited visited = { .removed = "top/a/cgroup.procs" };
	pid_t pid;

	make_groups();
	ck_assert_int_eq(processes_in_cgroup("top", visit, &visited), 0);
	ck_assert_uint_eq(visited.count, 4);
	for (pid = 1; pid <= 5; pid++)
		ck_assert_int_eq(has(&visited, pid), pid != 2);
	remove_groups();
}

TEST(test_path_outside_cgroupfs_is_refused)
{
	struct visited visited = { 0 };

	ck_assert_int_eq(processes_in_cgroup("/tmp/missing/group", visit, &visited), -ENOENT);
	ck_assert_int_eq(processes_in_cgroup("/proc/self/fd", visit, &visited), -ENOENT);
	ck_assert_uint_eq(visited.count, 0);
}

TEST(test_an_unreadable_group_is_an_error)
{
	struct visited visited = { 0 };

	make_groups();
	/* As with a threaded cgroup: the open succeeds and the read fails. */
	ck_assert_int_eq(unlink("top/cgroup.procs"), 0);
	ck_assert_int_eq(mkdir("top/cgroup.procs", 0700), 0);
	ck_assert_int_eq(processes_in_cgroup("top", visit, &visited), -EISDIR);
	ck_assert_uint_eq(visited.count, 0);
	remove_groups();
}

/* A child mapping the file. It exits when the parent closes the pipe. */
static pid_t map_in_child(int fd, int *line)
{
	int go[2], ready[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(go[0], &byte, 1));
	}
	close(go[0]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	*line = go[1];
	return pid;
}

static void check_who_maps(off_t size)
{
	char path[] = "/tmp/test_processes.XXXXXX";
	struct visited visited = { 0 };
	int fd = mkstemp(path), line;
	pid_t pid;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	ck_assert_int_eq(processes_that_map(fd, visit, &visited), 0);
	ck_assert_uint_eq(visited.count, 0);
	pid = map_in_child(fd, &line);
	ck_assert_int_eq(processes_that_map(fd, visit, &visited), 0);
	ck_assert_uint_eq(visited.count, 1);
	ck_assert_int_eq(visited.pids[0], pid);
	close(line);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(fd);
	unlink(path);
}

TEST(test_processes_that_map_a_file_are_found)
{
	check_who_maps(10000);
}

TEST(test_processes_that_map_an_empty_file_are_found)
{
	check_who_maps(0);
}

TEST(test_folder_cannot_be_mapped)
{
	struct visited visited = { 0 };
	int fd = open("/tmp", O_RDONLY);

	ck_assert_int_eq(processes_that_map(fd, visit, &visited), -ENODEV);
	close(fd);
}

static uint64_t since_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

TEST(test_birth_has_parent_and_start_time)
{
	const uint64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK), before = since_boot_ns();
	struct process_birth birth;
	pid_t pid = fork();

	if (!pid)
		_exit(pause());
	ck_assert_int_eq(process_birth(pid, &birth), 0);
	ck_assert_int_eq(birth.parent, getpid());
	ck_assert_uint_ge(birth.ns + tick_ns, before);
	ck_assert_uint_le(birth.ns, since_boot_ns());
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(process_birth(pid, &birth), -ESRCH);
}

TEST(test_process_1_is_the_first_of_its_namespace)
{
	ck_assert(process_is_first(1));
	ck_assert(!process_is_first(getpid()));
	ck_assert(!process_is_first(1 << 23));
}
