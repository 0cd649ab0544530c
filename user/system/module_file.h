/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens files of the pfstat module by their names in <pfstat/control.h>. Those in /dev are open
 * under lockdown, too; those in debugfs are used where /dev has none, as in a container.
 */
#ifndef PFSTAT_USER_MODULE_FILE_H
#define PFSTAT_USER_MODULE_FILE_H

#define MODULE_FILE_PATH_SIZE 64

/* The folder of the files; a static string. */
const char *module_file_folder(void);
void module_file_path(char path[MODULE_FILE_PATH_SIZE], const char *name);
/* A descriptor that closes on exec, or a negative errno. */
int module_file_open(const char *name, int flags);

#endif
