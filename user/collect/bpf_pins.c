// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins the maps and programs of a running pfdrive, so that bpftool finds them by name. A keeper
 * process removes the folder if pfdrive is killed.
 */
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfstat/event.h>

#include "collect/bpf_pins.h"
#include "privilege/capabilities.h"
#include "util/signals.h"

#define BPFFS "/sys/fs/bpf"

bool pins_possible(void)
{
	struct statfs statfs_buffer;

	return !statfs(BPFFS, &statfs_buffer) &&
	       (unsigned long)statfs_buffer.f_type == BPF_FS_MAGIC;
}

static void pins_pin_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", PFSTAT_PIN_DIR, name);
}

static int pins_pin_all(struct bpf_object *object)
{
	struct bpf_program *program;
	struct bpf_map *map;
	char path[256];
	int err;

	bpf_object__for_each_map(map, object) {
		if (bpf_map__is_internal(map))
			continue;
		pins_pin_path(path, sizeof(path), bpf_map__name(map));
		err = bpf_map__pin(map, path);
		if (err)
			return err;
	}
	bpf_object__for_each_program(program, object) {
		if (!bpf_program__autoload(program))
			continue;
		pins_pin_path(path, sizeof(path), bpf_program__name(program));
		err = bpf_program__pin(program, path);
		if (err)
			return err;
	}
	return 0;
}

/*
 * If bpffs was mounted without a mode, every user may make a folder or a link of this name there.
 * Neither is followed, or root would empty any folder to which it leads.
 */
static DIR *pins_open_own(void)
{
	const int fd = open(PFSTAT_PIN_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat_buffer;
	DIR *dir = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &stat_buffer) && stat_buffer.st_uid == geteuid())
		dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

static void pins_remove_folder(void)
{
	DIR *dir = pins_open_own();
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0); /* not "." and "..": EISDIR */
	closedir(dir);
	rmdir(PFSTAT_PIN_DIR);
}

static bool pins_folder_is(uint64_t inode)
{
	struct stat stat_buffer;

	return !stat(PFSTAT_PIN_DIR, &stat_buffer) && stat_buffer.st_ino == inode;
}

/* The keeper double-forks, so that wait4(-1) neither reaps it nor counts its rusage. */
static int pins_spawn_keeper(int its_end, const struct stat *folder)
{
	char inode[24];
	char *const arguments[] = { "pfdrive", "helper", "unpin", inode, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int status, err;
	pid_t child;

	snprintf(inode, sizeof(inode), "%" PRIu64, (uint64_t)folder->st_ino);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, its_end, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	/* Signals of a terminal to its foreground must not reach the keeper. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	err = -posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return err;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}

static int pins_start_keeper(int *keeper)
{
	struct stat folder;
	int ends[2], err;

	if (stat(PFSTAT_PIN_DIR, &folder) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = pins_spawn_keeper(ends[1], &folder);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		*keeper = ends[0];
	return err;
}

int pins_make(struct bpf_object *object, int *keeper)
{
	int err;

	pins_remove_folder(); /* of one that was killed together with its keeper */
	if (mkdir(PFSTAT_PIN_DIR, 0700))
		return -errno;
	/* Before the first pin: this process may be killed right after it. */
	err = pins_start_keeper(keeper);
	if (err) {
		pins_remove_folder();
		return err;
	}
	err = pins_pin_all(object);
	if (err)
		pins_remove(*keeper);
	return err;
}

/* Returns when the other end of the line is closed or shut. */
static void pins_wait_for_end(int line)
{
	ssize_t got;
	char byte;

	do
		got = read(line, &byte, 1);
	while (got > 0 || (got < 0 && errno == EINTR));
}

void pins_remove(int keeper)
{
	pins_remove_folder();
	shutdown(keeper, SHUT_WR);
	pins_wait_for_end(keeper); /* it is gone: there is nothing to remove */
	close(keeper);
}

/*
 * A run under memory pressure is in a cgroup of its own, which is killed as a whole
 * (system/memory_cgroup.h). The keeper leaves it, because it has work to do then.
 */
static void pins_leave_the_run(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[512];
	bool within = false;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		within |= !strncmp(line, "0::/pfdrive-", strlen("0::/pfdrive-"));
	fclose(file);
	file = within ? fopen("/sys/fs/cgroup/cgroup.procs", "we") : NULL;
	if (!file)
		return;
	fputs("0", file);
	fclose(file);
}

int pins_keep(uint64_t inode)
{
	pid_t child;

	interrupt_ignore();
	pins_leave_the_run();
	/*
	 * It closes the descriptors that pfdrive inherited, so that it keeps no file of others
	 * open.
	 */
	capabilities_keep(CAPABILITY(CAP_DAC_OVERRIDE));
	close_range(STDERR_FILENO + 1, ~0U, 0);
	child = fork();
	if (child)
		return child < 0 ? -errno : 0;
	pins_wait_for_end(STDIN_FILENO);
	/* By now the folder may be another program's. */
	if (pins_folder_is(inode))
		pins_remove_folder();
	return 0;
}
