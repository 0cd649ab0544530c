/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of what a fuzzer begins with: its first byte says what the rest is. */
#ifndef PFSTAT_FUZZ_CORPUS_FILE_H
#define PFSTAT_FUZZ_CORPUS_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* Open to be written behind that byte. Ends the program when it cannot be had. */
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
