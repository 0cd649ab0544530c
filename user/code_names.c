// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "code_names.h"
#include "collect/symbols.h"
#include "complain.h"
#include "recording/writer.h"

/* A recording's JSON has bounds: names beyond these stay numbers in it. */
#define SYMBOL_MAX 255
#define ALL_MAX (12U << 20)	/* bytes of that JSON; the rest is for its head and tail */

struct search {
	struct analysis *analysis;
	struct symbols *symbols;
	json_t *found;
	size_t bytes;		/* of these, as JSON */
	uint64_t left_out;
};

/* What has no room, or is of a path that is not UTF-8, stays without a symbol there. */
static int keep(struct search *search, const struct code_place *place, const char *name)
{
	json_t *entry = NULL;
	size_t bytes;

	if (strlen(name) <= SYMBOL_MAX)
		entry = json_pack("{ss sI ss}", "path", place->path, "offset",
				  (json_int_t)place->offset, "symbol", name);
	bytes = recording_json_size(entry) + 1;	/* a comma */
	if (!entry || search->bytes + bytes > ALL_MAX) {
		json_decref(entry);
		search->left_out++;
		return 0;
	}
	search->bytes += bytes;
	return json_array_append_new(search->found, entry) ? -ENOMEM : 0;
}

static int look_up(void *context, const struct code_place *place)
{
	struct search *search = context;
	char *name = symbols_name(search->symbols, place->path, place->inode,
				  place->offset);
	int err;

	if (!name)
		return 0;
	err = analysis_name_code(search->analysis, place->path, place->offset, name);
	if (!err)
		err = keep(search, place, name);
	free(name);
	return err;
}

int code_names_find(struct analysis *analysis, const struct code_files *files, json_t **symbols,
		    uint64_t *left_out)
{
	struct search search = { .analysis = analysis, .found = json_array() };
	int err;

	*symbols = search.found;
	if (!search.found)
		return -ENOMEM;
	err = symbols_open(&search.symbols, files);
	if (!err)
		err = analysis_visit_code(analysis, look_up, &search);
	if (!err && symbols_trouble(search.symbols))
		complain(STATUS_OK, "cannot look up all names of code: the process that reads "
			 "symbols failed (%s); addresses stand in their place",
			 strerror(-symbols_trouble(search.symbols)));
	symbols_close(search.symbols);
	*left_out = search.left_out;
	return err;
}

int code_names_take(struct analysis *analysis, const json_t *symbols)
{
	const char *path, *symbol;
	json_int_t offset;
	json_t *entry;
	size_t i;
	int err;

	json_array_foreach(symbols, i, entry) {
		if (json_unpack(entry, "{ss sI ss}", "path", &path, "offset", &offset, "symbol",
				&symbol))
			continue;	/* of another version: it names nothing here */
		err = analysis_name_code(analysis, path, offset, symbol);
		if (err)
			return err;
	}
	return 0;
}
