// SPDX-License-Identifier: GPL-2.0-only
/*
 * A prefetch list as the prefetch file of Nydus, from which `nydusify optimize` moves the listed
 * parts of an image's files to one blob. Its format is in docs/nydusify.md of Nydus.
 */
#include <stdlib.h>
#include <string.h>

#include "prefetch/prefetch.h"
#include "util/json_value.h"

/* The path in the image, or NULL: the file is not below the root. */
static const char *path_in_image(const char *path, const char *root)
{
	const size_t length = strcmp(root, "/") ? strlen(root) : 0;

	return !strncmp(path, root, length) && path[length] == '/' ? path + length : NULL;
}

/* Adds the file, and returns its array of ranges, which the files own, or NULL. */
static json_t *export_file(json_t *files, const char *path)
{
	json_t *ranges = json_array();
	json_t *file = value_object((const struct value_member[]){
		{ "path", json_string(path) }, { "ranges", ranges }, { 0 } });

	return file && !json_array_append_new(files, file) ? ranges : NULL;
}

/* One array of ranges for each file, NULL if it is left out. */
static json_t **export_files(json_t *files, const struct prefetch_list *list, const char *root)
{
	json_t **ranges = calloc(list->nr_files + 1, sizeof(*ranges));
	const char *path;
	size_t i;

	for (i = 0; ranges && i < list->nr_files; i++) {
		path = path_in_image(list->files[i].path, root);
		ranges[i] = path ? export_file(files, path) : NULL;
	}
	return ranges;
}

json_t *prefetch_export_nydus(const struct prefetch_list *list, const char *root,
			      uint64_t *left_out)
{
	json_t *files = json_array(), **ranges = export_files(files, list, root);
	const struct prefetch_read *read;
	size_t i;
	int err = !ranges;

	for (i = 0; i < list->nr_reads && !err; i++) {
		read = &list->reads[i];
		if (ranges[read->file])
			err = json_array_append_new(ranges[read->file],
						    json_pack("[II]", (json_int_t)read->offset,
							      (json_int_t)read->bytes));
	}
	*left_out = list->nr_files - json_array_size(files);
	free(ranges);
	if (err) {
		json_decref(files);
		files = NULL;
	}
	return value_object((const struct value_member[]){
		{ "version", json_string("v1") }, { "files", files }, { 0 } });
}
