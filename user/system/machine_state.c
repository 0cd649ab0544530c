// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills a report's environment from uname(2), /proc, /sys and debugfs. A value that cannot be read
 * keeps the "not available" form and is never an error.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system/cpu_identity.h"
#include "system/machine_state.h"
#include "system/readahead_setting.h"
#include "util/counter.h"
#include "util/first_line.h"
#include "util/page_size.h"
#include "util/shell_quote.h"

#define DIR_CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0"

/* Truncates a string too long to fit. */
static void copy(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}

/* Compares mount ids, because btrfs and overlayfs have separate device numbers. */
static void read_mount(int fd, char *type, size_t type_size, char *source, size_t source_size)
{
	char line[2 * PATH_MAX], found_type[64], found_source[PATH_MAX];
	unsigned long long id;
	struct statx statx_buffer;
	const char *rest;
	FILE *file;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &statx_buffer) ||
	    !(statx_buffer.stx_mask & STATX_MNT_ID))
		return;
	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llu", &id) != 1 || id != statx_buffer.stx_mnt_id)
			continue;
		rest = strstr(line, " - ");
		if (rest && sscanf(rest, " - %63s %4095s", found_type, found_source) == 2) {
			copy(type, type_size, found_type);
			copy(source, source_size, found_source);
		}
		break;
	}
	fclose(file);
}

/*
 * @dev: the file's device number, replaced by the number of the block device below it, or of the
 * mount's source.
 */
static bool find_block_device(const char *source, dev_t *dev)
{
	char path[64];
	struct stat stat_buffer;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(*dev), minor(*dev));
	if (!access(path, F_OK))
		return true;
	if (source[0] != '/' || stat(source, &stat_buffer) || !S_ISBLK(stat_buffer.st_mode))
		return false;
	*dev = stat_buffer.st_rdev;
	return true;
}

static void read_device(struct environment *environment, dev_t dev)
{
	char link[64], target[PATH_MAX];
	const char *name;
	ssize_t length;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		return;
	target[length] = '\0';
	name = strrchr(target, '/');
	copy(environment->device, sizeof(environment->device), name ? name + 1 : target);
}

static void read_place(struct environment *environment, int fd, dev_t dev)
{
	char source[PATH_MAX] = "";

	read_mount(fd, environment->filesystem, sizeof(environment->filesystem), source,
		   sizeof(source));
	if (find_block_device(source, &dev))
		read_device(environment, dev);
	environment->readahead_bytes = readahead_setting_read(fd);
}

/* Extracts the active setting, in brackets: "always [madvise] never". */
static void read_huge_pages(char *setting, size_t size)
{
	char text[64];
	const char *begin;

	first_line_read("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text));
	begin = strchr(text, '[');
	if (!begin)
		return;
	text[strcspn(text, "]")] = '\0';
	copy(setting, size, begin + 1);
}

/*
 * Stores "" if the command line cannot be read or does not fit: a truncated one would be a
 * different command.
 */
static void read_invocation(char *text, size_t size)
{
	FILE *file = fopen("/proc/self/cmdline", "re"), *out = fmemopen(text, size, "w");
	const char *separator = "";
	size_t room = 0;
	char *word = NULL;
	bool whole;

	text[0] = '\0';
	while (file && out && getdelim(&word, &room, '\0', file) > 0) {
		fputs(separator, out);
		shell_quote(out, word);
		separator = " ";
	}
	free(word);
	whole = out && !fflush(out) && (size_t)ftell(out) < size - 1;
	if (out)
		fclose(out);
	if (file)
		fclose(file);
	if (!whole)
		text[0] = '\0';
}

void machine_state_read(struct environment *environment)
{
	struct utsname uts;
	struct sysinfo info;
	char text[32];

	if (!uname(&uts)) {
		copy(environment->host, sizeof(environment->host), uts.nodename);
		copy(environment->kernel, sizeof(environment->kernel), uts.release);
		copy(environment->architecture, sizeof(environment->architecture), uts.machine);
	}
	cpu_identity_model(environment->machine, sizeof(environment->machine));
	environment->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!sysinfo(&info))
		environment->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	environment->page_bytes = page_size();
	first_line_read(DIR_CLOCKSOURCE "/current_clocksource", environment->clocksource,
			sizeof(environment->clocksource));
	environment->counter_hz = counter_hz();
	cpu_identity_virtualization(environment->virtualization,
				    sizeof(environment->virtualization));
	read_invocation(environment->invocation, sizeof(environment->invocation));
	environment->readahead_bytes = -1;
	environment->pinned_cpu = -1;
	first_line_read("/sys/kernel/debug/fault_around_bytes", text, sizeof(text));
	environment->fault_around_bytes = strtoull(text, NULL, 10);
}

void machine_state_read_file(struct environment *environment, const char *path, int fd, dev_t dev)
{
	char resolved[PATH_MAX];

	copy(environment->file, sizeof(environment->file), realpath(path, resolved) ?: path);
	read_place(environment, fd, dev);
}

void machine_state_read_huge_pages(struct environment *environment)
{
	read_huge_pages(environment->transparent_hugepage,
			sizeof(environment->transparent_hugepage));
}
