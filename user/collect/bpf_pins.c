// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins a running pfdrive's maps and programs, so bpftool finds them by name. A keeper process
 * removes the folder if pfdrive is killed.
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
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfstat/event.h>

#include "collect/bpf_pins.h"
#include "collect/pins_lock.h"
#include "privilege/privilege.h"
#include "util/signals.h"

#define MAX_LINKS 64

bool bpf_pins_possible(void)
{
	struct statfs statfs_buffer;

	return !statfs(BPFFS, &statfs_buffer) &&
	       (unsigned long)statfs_buffer.f_type == BPF_FS_MAGIC;
}

/* The lock is on a file that every kernel with eBPF has and no other program locks. */
int bpf_pins_claim(void)
{
	const int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return err;
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

/* The keeper double-forks, so wait4(-1) neither reaps it nor counts its rusage. */
static int pins_spawn_keeper(struct bpf_pins *pins, int its_end, const struct stat *folder)
{
	char inode[24];
	char *const arguments[] = { "pfdrive", "helper", "unpin", inode, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int err;

	snprintf(inode, sizeof(inode), "%" PRIu64, (uint64_t)folder->st_ino);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, its_end, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	/* Terminal signals to the foreground must not reach the keeper. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	err = -posix_spawn(&pins->starting, "/proc/self/exe", &actions, &attributes, arguments,
			   environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* The keeper's first process exits when the keeper is ready. */
static int pins_await_keeper(struct bpf_pins *pins)
{
	int status;

	while (waitpid(pins->starting, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	pins->starting = 0;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}

static int pins_start_keeper(struct bpf_pins *pins)
{
	struct stat folder;
	int ends[2], err;

	if (stat(PFSTAT_PIN_DIR, &folder) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = pins_spawn_keeper(pins, ends[1], &folder);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		pins->keeper = ends[0];
	return err;
}

int bpf_pins_open(struct bpf_pins *pins)
{
	int err;

	pins_remove_folder(); /* left by a pfdrive killed together with the keeper */
	if (mkdir(PFSTAT_PIN_DIR, 0700))
		return -errno;
	err = pins_start_keeper(pins);
	if (err)
		pins_remove_folder();
	return err;
}

int bpf_pins_make(struct bpf_pins *pins, struct bpf_object *object)
{
	/* Before the first pin: this process may be killed right after it. */
	return pins_await_keeper(pins) ?: pins_pin_all(object);
}

void bpf_pins_remove(const struct bpf_pins *pins)
{
	if (pins->keeper >= 0)
		pins_remove_folder();
}

/* Descriptors are ancillary data in a message, see unix(7). */
union pins_links {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(MAX_LINKS * sizeof(int))];
};

static unsigned int pins_find_links(const struct bpf_object_skeleton *skeleton, int *links)
{
	unsigned int nr = 0;
	int i;

	for (i = 0; i < skeleton->prog_cnt && nr < MAX_LINKS; i++)
		if (*skeleton->progs[i].link)
			links[nr++] = bpf_link__fd(*skeleton->progs[i].link);
	return nr;
}

void bpf_pins_give_links(const struct bpf_pins *pins, const struct bpf_object_skeleton *skeleton)
{
	int links[MAX_LINKS];
	const size_t bytes = pins_find_links(skeleton, links) * sizeof(*links);
	union pins_links data = { .head = {
					  .cmsg_len = CMSG_LEN(bytes),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS,
				  } };
	struct iovec byte = { .iov_base = "", .iov_len = 1 };
	const struct msghdr message = {
		.msg_iov = &byte,
		.msg_iovlen = 1,
		.msg_control = &data,
		.msg_controllen = CMSG_SPACE(bytes),
	};

	if (pins->keeper < 0)
		return;
	memcpy(CMSG_DATA(&data.head), links, bytes);
	sendmsg(pins->keeper, &message, MSG_NOSIGNAL);
}

void bpf_pins_close(struct bpf_pins *pins)
{
	if (pins->keeper < 0)
		return;
	close(pins->keeper);
	pins->keeper = -1;
	if (pins->starting)
		pins_await_keeper(pins);
}

/* Returns when the other end of the line is closed. Links received over it stay open. */
static void pins_wait_for_end(int line)
{
	union pins_links data;
	char byte;
	struct iovec bytes = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message;
	ssize_t got;

	do {
		message = (struct msghdr){
			.msg_iov = &bytes,
			.msg_iovlen = 1,
			.msg_control = &data,
			.msg_controllen = sizeof(data),
		};
		got = recvmsg(line, &message, MSG_CMSG_CLOEXEC);
	} while (got > 0 || (got < 0 && errno == EINTR));
}

/*
 * A run under memory pressure is in a separate cgroup, which is killed as a whole
 * (system/cgroups.h). The keeper leaves it, because it has work to do then.
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

int bpf_pins_keep(uint64_t inode)
{
	pid_t child;
	int lock;

	signals_ignore();
	pins_leave_the_run();
	/* Closes the descriptors that pfdrive inherited, to keep no file of other programs open. */
	capabilities_keep(CAPABILITY(CAP_DAC_OVERRIDE));
	close_range(STDERR_FILENO + 1, ~0U, 0);
	lock = pins_lock(LOCK_SH);
	if (lock < 0)
		return -errno;
	child = fork();
	if (child)
		return child < 0 ? -errno : 0;
	pins_wait_for_end(STDIN_FILENO);
	/* By now the folder may be another program's. */
	if (pins_folder_is(inode))
		pins_remove_folder();
	close_range(lock + 1, ~0U, 0); /* before the lock */
	return 0;
}
