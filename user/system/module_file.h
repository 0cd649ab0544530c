/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens the pfstat module's files by their names in <pfstat/control.h>. Those in /dev are also open
 * under lockdown. Those in debugfs are used where /dev has none, as in a container.
 */
#ifndef PFSTAT_USER_MODULE_FILE_H
#define PFSTAT_USER_MODULE_FILE_H

#define MODULE_FILE_PATH_SIZE 64

/* The files' folder, a static string. */
const char *module_file_folder(void);
void module_file_path(char path[MODULE_FILE_PATH_SIZE], const char *name);
/* A close-on-exec descriptor, or a negative errno. */
int module_file_open(const char *name, int flags);

#endif
