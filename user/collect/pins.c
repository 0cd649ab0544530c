// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <pfstat/event.h>

#include "pins.h"

#define BPFFS "/sys/fs/bpf"

bool pins_possible(void)
{
	struct statfs statfs_buffer;

	return !statfs(BPFFS, &statfs_buffer) &&
	       (unsigned long)statfs_buffer.f_type == BPF_FS_MAGIC;
}

static void pin_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", PFSTAT_PIN_DIR, name);
}

static int pin_all(struct bpf_object *object)
{
	struct bpf_program *program;
	struct bpf_map *map;
	char path[256];
	int err;

	bpf_object__for_each_map(map, object) {
		if (bpf_map__is_internal(map))
			continue;
		pin_path(path, sizeof(path), bpf_map__name(map));
		err = bpf_map__pin(map, path);
		if (err)
			return err;
	}
	bpf_object__for_each_program(program, object) {
		if (!bpf_program__autoload(program))
			continue;
		pin_path(path, sizeof(path), bpf_program__name(program));
		err = bpf_program__pin(program, path);
		if (err)
			return err;
	}
	return 0;
}

int pins_make(struct bpf_object *object)
{
	int err;

	pins_remove();
	if (mkdir(PFSTAT_PIN_DIR, 0700))
		return -errno;
	err = pin_all(object);
	if (err)
		pins_remove();
	return err;
}

/*
 * Where bpffs was mounted without a mode everybody may make a folder or a link of our
 * name there: neither is followed, or root would empty any folder that it leads to.
 */
static DIR *open_own(void)
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

void pins_remove(void)
{
	DIR *dir = open_own();
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);	/* not "." and "..": EISDIR */
	closedir(dir);
	rmdir(PFSTAT_PIN_DIR);
}
