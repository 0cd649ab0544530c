/* SPDX-License-Identifier: GPL-2.0-only */
/* The pfstat module's files: their folder, and the lines in `targets`. */
#ifndef PFSTAT_USER_MODULE_FILE_H
#define PFSTAT_USER_MODULE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/mapping_state.h"

/*
 * Opens the pfstat module's files by their names in <pfstat/control.h>. Those in /dev are also open
 * under lockdown. Those in debugfs are used where /dev has none, as in a container.
 */

#define MODULE_FILE_PATH_SIZE 64

/* The files' folder, a static string. */
const char *module_file_folder(void);
void module_file_path(char path[MODULE_FILE_PATH_SIZE], const char *name);
/* A close-on-exec descriptor, or a negative errno. */
int module_file_open(const char *name, int flags);

/* A line in the module's file `targets`: a hooked mapping and the mapping's read-ahead state. */

struct hooked_mapping {
	pid_t pid;
	uint64_t start, end;
	struct mapping_state state;
};

/*
 * Returns false if the line is about something else. Without the mapping's state, `state.known` is
 * false.
 */
bool hooked_mapping_parse(struct hooked_mapping *mapping, const char *line);

#endif
