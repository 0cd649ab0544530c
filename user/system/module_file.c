// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
