/* SPDX-License-Identifier: GPL-2.0-only */
/* Creates a file in an initial corpus. The first byte selects the kind of input. */
#ifndef PFSTAT_FUZZ_CORPUS_FILE_H
#define PFSTAT_FUZZ_CORPUS_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* Opens the file for writing after this byte. Exits on failure. */
static FILE *create(const char *folder, const char *name, char first)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fputc(first, file) == EOF) {
		perror(path);
		exit(1);
	}
	return file;
}

#endif
