// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds arbitrary bytes to the prefetch list parser. A refused list is empty, and has a line and a
 * reason. An accepted list obeys the format (prefetch.h), and is written as it was read.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/prefetch/prefetch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refused(const struct prefetch_list *list, int err, size_t line,
			  const struct why *why)
{
	if (err != -EINVAL || !line || !why->text[0] || list->nr_files || list->nr_reads ||
	    list->files || list->reads)
		abort();
}

static void check_bounds(const struct prefetch_list *list)
{
	const struct prefetch_read *read;
	size_t i;

	for (i = 0; i < list->nr_files; i++)
		if (list->files[i].path[0] != '/' || list->files[i].mtime_ns >= 1000000000 ||
		    strlen(list->files[i].path) >= PREFETCH_LIST_PATH_MAX)
			abort();
	for (i = 0; i < list->nr_reads; i++) {
		read = &list->reads[i];
		if (read->file >= list->nr_files || !read->bytes ||
		    read->offset + read->bytes > list->files[read->file].bytes)
			abort();
	}
}

static void check_text(const struct prefetch_list *list, const char *text, size_t size)
{
	char *again = NULL;
	size_t length;
	FILE *out = open_memstream(&again, &length);

	if (!out)
		abort();
	prefetch_list_write(out, list);
	if (fclose(out) || length != size || memcmp(again, text, size))
		abort();
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* the sanitizer detects an access beyond it */
	struct prefetch_list list;
	struct why why = { "" };
	size_t line;
	int err;

	memcpy(text, data, size);
	text[size] = '\0';
	err = prefetch_list_parse(&list, text, size, &line, &why);
	if (err) {
		check_refused(&list, err, line, &why);
	} else {
		check_bounds(&list);
		check_text(&list, text, size);
	}
	prefetch_list_exit(&list);
	free(text);
	return 0;
}
