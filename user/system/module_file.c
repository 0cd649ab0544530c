// SPDX-License-Identifier: GPL-2.0-only
/* The pfstat module's files: their folder, and the lines in `targets`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "system/module_file.h"

const char *module_file_folder(void)
{
	return access(PFSTAT_DEVICES "/" PFSTAT_FILE_SESSION, F_OK) ? PFSTAT_DEBUGFS :
								      PFSTAT_DEVICES;
}

void module_file_path(char path[MODULE_FILE_PATH_SIZE], const char *name)
{
	snprintf(path, MODULE_FILE_PATH_SIZE, "%s/%s", module_file_folder(), name);
}

int module_file_open(const char *name, int flags)
{
	char path[MODULE_FILE_PATH_SIZE];
	int fd;

	module_file_path(path, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Parses the lines "vma pid PID START-END …" that the module prints for each hooked mapping. The
 * fields have names, and the file path comes last.
 */

static bool hooked_advice(const char *word, uint32_t *advice)
{
	static const char *const names[] = MAPPING_ADVICE_NAMES;

	for (*advice = 0; *advice < MAPPING_NR_ADVICES; ++*advice)
		if (!strcmp(word, names[*advice]))
			return true;
	return false;
}

bool hooked_mapping_parse(struct hooked_mapping *mapping, const char *line)
{
	struct mapping_state *state = &mapping->state;
	char advice[16];
	int fields;

	*mapping = (struct hooked_mapping){ 0 };
	fields = sscanf(line,
			"vma pid %d %" SCNx64 "-%" SCNx64
			" pgoff %*u dev %*u:%*u inode %*u advice %15s readahead_pages %" SCNu32
			" mmap_miss %" SCNu32,
			&mapping->pid, &mapping->start, &mapping->end, advice, &state->ra_pages,
			&state->mmap_miss);
	state->known = fields == 6 && hooked_advice(advice, &state->advice);
	return fields >= 3;
}
