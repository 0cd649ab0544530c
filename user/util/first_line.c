// SPDX-License-Identifier: GPL-2.0-only
/* Reads kernel files that have a single value. A missing file is not an error. */
#include <stdio.h>
#include <string.h>

#include "util/first_line.h"

void first_line_read(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (!fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}
