// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks up the names of the faulting code, and puts them into the analysis and the recording. The
 * code addresses come from the analysis, the names from ELF files and perf maps. The names in a
 * recording stay within the recording's bounds. An address without a name stays a number.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/code_files.h"
#include "recording/writer.h"
#include "symbols/symbols.h"
#include "system/jit_map.h"
#include "util/array.h"
#include "util/message.h"

/* A recording has a JSON limit. Names beyond these bounds are discarded and counted. */
#define SYMBOL_MAX 255
#define ALL_MAX	   (12U << 20) /* bytes in this JSON; the rest is for other members */

/* The paths belong to the analysis. Code outside of any file may be named by a JIT compiler. */
struct code_places {
	struct code_place *list;
	size_t nr, room;
};

struct search {
	struct analysis *analysis;
	const struct code_files *files;
	bool lines;
	struct symbols *symbols;
	json_t *found;
	size_t bytes; /* their size as JSON */
	uint64_t left_out;
	struct code_places in_files, jitted;
};

/*
 * Consumes entry. Leaves it out if it does not fit, or if it is NULL because the symbol is too
 * long or the path is not UTF-8.
 */
static int code_names_keep(struct search *search, json_t *entry)
{
	const size_t bytes = recording_json_size(entry) + 1; /* a comma */

	if (!entry || search->bytes + bytes > ALL_MAX) {
		json_decref(entry);
		search->left_out++;
		return 0;
	}
	search->bytes += bytes;
	return json_array_append_new(search->found, entry) ? -ENOMEM : 0;
}

static int add_place(struct code_places *places, const struct code_place *place)
{
	if (array_reserve((void **)&places->list, places->nr, &places->room, sizeof(*place)))
		return -ENOMEM;
	places->list[places->nr++] = *place;
	return 0;
}

static int collect(void *context, const struct code_place *place)
{
	struct search *search = context;

	return add_place(place->path[0] ? &search->in_files : &search->jitted, place);
}

/* The places in one file or process follow each other, to read each file only once. */
static int by_file_and_offset(const void *a, const void *b)
{
	const struct code_place *left = a, *right = b;
	const int order = strcmp(left->path, right->path);

	if (order)
		return order;
	if (left->inode != right->inode)
		return left->inode < right->inode ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int look_up(struct search *search, const struct code_place *place)
{
	char *name = symbols_name(search->symbols, place->path, place->inode, place->offset);
	int err;

	if (!name)
		return 0;
	err = analysis_name_code(search->analysis, place->path, place->offset, name);
	if (!err)
		err = code_names_keep(search,
				      strlen(name) > SYMBOL_MAX ?
					      NULL :
					      json_pack("{ss sI ss}", "path", place->path, "offset",
							(json_int_t)place->offset, "symbol", name));
	free(name);
	return err;
}

static int look_up_line(struct search *search, const struct code_place *place)
{
	uint32_t line;
	char *source =
		symbols_line(search->symbols, place->path, place->inode, place->offset, &line);
	int err;

	if (!source)
		return 0;
	err = analysis_name_line(search->analysis, place->path, place->offset, source, line);
	if (!err)
		err = code_names_keep(search,
				      json_pack("{ss sI ss sI}", "path", place->path, "offset",
						(json_int_t)place->offset, "source", source, "line",
						(json_int_t)line));
	free(source);
	return err;
}

/* The lines come after all names, which need less memory and time. */
static int look_up_all_in_files(struct search *search)
{
	const struct code_places *places = &search->in_files;
	int err = 0;
	size_t i;

	if (places->nr)
		qsort(places->list, places->nr, sizeof(*places->list), by_file_and_offset);
	for (i = 0; i < places->nr && !err; i++)
		err = look_up(search, &places->list[i]);
	for (i = 0; search->lines && i < places->nr && !err; i++)
		if (places->list[i].faults)
			err = look_up_line(search, &places->list[i]);
	return err;
}

static int name_jitted(struct search *search, uint32_t pid, const struct jit_map_place *places,
		       size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		if (!places[i].name)
			continue;
		err = analysis_name_address(search->analysis, pid, places[i].address,
					    places[i].name);
		if (!err)
			err = code_names_keep(search,
					      json_pack("{sI sI ss}", "pid", (json_int_t)pid,
							"address", (json_int_t)places[i].address,
							"symbol", places[i].name));
	}
	return err;
}

/* Looks up the code of one process. Without a perf map it stays without names. */
static int look_up_jitted(struct search *search, const struct code_place *jitted, size_t nr)
{
	const int fd = code_files_open_perf_map(search->files, jitted->pid);
	struct jit_map_place *places = fd < 0 ? NULL : calloc(nr, sizeof(*places));
	FILE *file = places ? fdopen(fd, "r") : NULL;
	size_t i;
	int err;

	if (fd < 0)
		return 0;
	for (i = 0; places && i < nr; i++)
		places[i].address = jitted[i].offset;
	err = file ? jit_map_read(file, places, nr) : -ENOMEM;
	if (!err)
		err = name_jitted(search, jitted->pid, places, nr);
	for (i = 0; places && i < nr; i++)
		free(places[i].name);
	free(places);
	if (file)
		fclose(file);
	else
		close(fd);
	return err;
}

static int look_up_all_jitted(struct search *search)
{
	const struct code_places *places = &search->jitted;
	size_t from, to;
	int err = 0;

	if (places->nr)
		qsort(places->list, places->nr, sizeof(*places->list), by_file_and_offset);
	for (from = 0; from < places->nr && !err; from = to) {
		to = from + 1;
		while (to < places->nr && places->list[to].pid == places->list[from].pid)
			to++;
		err = look_up_jitted(search, places->list + from, to - from);
	}
	return err;
}

int code_names_find(struct analysis *analysis, const struct code_files *files, bool lines,
		    json_t **symbols, uint64_t *left_out)
{
	struct search search = {
		.analysis = analysis,
		.files = files,
		.lines = lines,
		.found = json_array(),
	};
	int err;

	*symbols = search.found;
	if (!search.found)
		return -ENOMEM;
	err = symbols_open(&search.symbols, files);
	if (!err)
		err = analysis_visit_code(analysis, collect, &search);
	if (!err)
		err = look_up_all_in_files(&search) ?: look_up_all_jitted(&search);
	free(search.in_files.list);
	free(search.jitted.list);
	if (!err && symbols_trouble(search.symbols))
		message(STATUS_OK,
			"cannot look up all symbols: the process that reads them failed (%s); "
			"addresses are printed instead",
			strerror(-symbols_trouble(search.symbols)));
	symbols_close(search.symbols);
	*left_out = search.left_out;
	return err;
}

int code_names_take(struct analysis *analysis, const json_t *symbols)
{
	const char *path, *symbol;
	json_int_t offset, pid, line;
	json_t *entry;
	size_t i;
	int err;

	json_array_foreach(symbols, i, entry) {
		if (!json_unpack(entry, "{ss sI ss}", "path", &path, "offset", &offset, "symbol",
				 &symbol))
			err = analysis_name_code(analysis, path, offset, symbol);
		else if (!json_unpack(entry, "{sI sI ss}", "pid", &pid, "address", &offset,
				      "symbol", &symbol))
			err = analysis_name_address(analysis, pid, offset, symbol);
		else if (!json_unpack(entry, "{ss sI ss sI}", "path", &path, "offset", &offset,
				      "source", &symbol, "line", &line) &&
			 line > 0 && line <= INT32_MAX)
			err = analysis_name_line(analysis, path, offset, symbol, line);
		else
			continue; /* from another version: no name for this one */
		if (err)
			return err;
	}
	return 0;
}
