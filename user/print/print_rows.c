// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a recording as rows, for notebooks and scripts, while it is read: logical faults as CSV or
 * as lines of JSON, block device requests and mappings as CSV.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/fault/mechanism.h"
#include "analyze/groups/address_spaces.h"
#include "print/csv_text.h"
#include "print/json_text.h"
#include "print/printers.h"

/*
 * Logical faults, ordered by end time. File and thread names come from the analysis at fault time.
 * Code names are only known at the end of a recording, so a row has the address.
 */

struct fault_rows {
	FILE *out;
	const struct analysis *analysis; /* has the names */
	bool json;
	/* The last file: faults come in runs. */
	uint64_t inode;
	uint32_t dev, generation;
	char *file;
};

static int fault_rows_begin(struct fault_rows *rows, FILE *out, const struct analysis *analysis,
			    bool json)
{
	enum part part;

	*rows = (struct fault_rows){ .out = out, .analysis = analysis, .json = json };
	if (json)
		return 0;
	fputs("start_ns,duration_ns,pid,tid,thread,class,major,solved,kernel,write,address,file,"
	      "page,code",
	      out);
	for (part = 0; part < NR_PARTS; part++)
		fprintf(out, ",%s_ns", part_name(part));
	fputs(",read_bytes,calls_ns,whole,mechanism\n", out);
	return ferror(out) ? -EIO : 0;
}

/* Returns the name of the fault's file, or NULL without memory. Memory without a file has none. */
static const char *fault_rows_file(struct fault_rows *rows, const struct explained *fault)
{
	const struct spaces *spaces = analysis_spaces(rows->analysis);
	const char *path;
	const uint32_t generation =
		fault->inode ? address_spaces_file_now(spaces, fault->dev, fault->inode, &path) : 0;

	/* The mapping that names a file may arrive after the file's first faults. */
	if (rows->file && rows->file[0] != '(' && rows->inode == fault->inode &&
	    rows->dev == fault->dev && rows->generation == generation)
		return rows->file;
	free(rows->file);
	rows->file = fault->inode ? analysis_file_name(rows->analysis, fault->dev, fault->inode) :
				    strdup("");
	rows->inode = fault->inode;
	rows->dev = fault->dev;
	rows->generation = generation;
	return rows->file;
}

static bool is_kernel(const struct explained *fault)
{
	return !(fault->flags & PFSTAT_FLAG_USER);
}

/* perf does not report whether a fault was a write. NULL: not known. */
static const char *fault_rows_write(const struct explained *fault, const char *yes, const char *no)
{
	if (fault->perf)
		return NULL;
	return fault->flags & PFSTAT_FLAG_WRITE ? yes : no;
}

/* A failed fault has no end in perf's events. */
static bool fault_rows_has_time(const struct explained *fault)
{
	return !(fault->perf & PFSTAT_PERF_NO_END);
}

/* NULL: not known. */
static const char *fault_rows_mechanism(const struct explained *fault)
{
	const enum mechanism mechanism = mechanism_of(fault);

	return mechanism == MECHANISM_UNKNOWN ? NULL : mechanisms[mechanism].spelling;
}

static bool fault_rows_has_part(const struct explained *fault, enum part part)
{
	if (part_has(part, PART_OUTSIDE_CALLS) && !fault->whole)
		return false;
	return fault->parts_known && fault_rows_has_time(fault) &&
	       (!fault->perf || part_has(part, PART_BY_PERF));
}

static bool fault_rows_has_bytes(const struct explained *fault)
{
	return fault->parts_known && !fault->perf;
}

/* Without a call, or if the calls are not known, there is no call time. */
static bool fault_rows_has_calls(const struct explained *fault)
{
	return fault->calls;
}

static void csv_cell(FILE *out, bool known, uint64_t number)
{
	putc_unlocked(',', out);
	if (known)
		csv_text_number(out, number);
}

static void print_csv_row(const struct fault_rows *rows, const struct explained *fault,
			  const char *file)
{
	FILE *out = rows->out;
	enum part part;

	csv_text_number(out, fault->start_ns);
	csv_cell(out, fault_rows_has_time(fault), fault->end_ns - fault->start_ns);
	csv_cell(out, true, fault->pid);
	csv_cell(out, true, fault->tid);
	putc_unlocked(',', out);
	csv_text(out, analysis_thread_name(rows->analysis, fault->tid));
	putc_unlocked(',', out);
	fputs(fault_class_name(fault->class), out);
	csv_cell(out, true, fault->major);
	csv_cell(out, true, fault->solved);
	csv_cell(out, true, is_kernel(fault));
	fputs(fault_rows_write(fault, ",1,", ",0,") ?: ",,", out);
	csv_text_address(out, fault->address);
	putc_unlocked(',', out);
	csv_text(out, file);
	csv_cell(out, fault->inode, fault->pgoff);
	putc_unlocked(',', out);
	csv_text_address(out, fault->ip);
	for (part = 0; part < NR_PARTS; part++)
		csv_cell(out, fault_rows_has_part(fault, part), fault->parts_ns[part]);
	csv_cell(out, fault_rows_has_bytes(fault), fault->read_bytes);
	csv_cell(out, fault_rows_has_calls(fault), fault->handler_ns);
	csv_cell(out, true, fault->whole);
	fprintf(out, ",%s\n", fault_rows_mechanism(fault) ?: "");
}

/* Prints @key, and the number or null. */
static void json_number(FILE *out, const char *key, bool known, uint64_t number)
{
	if (known)
		fprintf(out, "%s%" PRIu64, key, number);
	else
		fprintf(out, "%snull", key);
}

static void print_json_parts(FILE *out, const struct explained *fault)
{
	char key[32];
	enum part part;

	for (part = 0; part < NR_PARTS; part++) {
		snprintf(key, sizeof(key), ",\"%s_ns\":", part_name(part));
		json_number(out, key, fault_rows_has_part(fault, part), fault->parts_ns[part]);
	}
}

static int print_json_row(const struct fault_rows *rows, const struct explained *fault,
			  const char *file)
{
	char *name = json_text_string(file);
	char *thread = json_text_string(analysis_thread_name(rows->analysis, fault->tid));
	FILE *out = rows->out;

	if (name && thread) {
		fprintf(out, "{\"start_ns\":%" PRIu64, fault->start_ns);
		json_number(out, ",\"duration_ns\":", fault_rows_has_time(fault),
			    fault->end_ns - fault->start_ns);
		fprintf(out,
			",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"thread\":%s,\"class\":\"%s\","
			"\"major\":%s,\"solved\":%s,\"kernel\":%s,\"write\":%s,"
			"\"address\":\"%#" PRIx64 "\",\"file\":%s",
			fault->pid, fault->tid, thread, fault_class_name(fault->class),
			fault->major ? "true" : "false", fault->solved ? "true" : "false",
			is_kernel(fault) ? "true" : "false",
			fault_rows_write(fault, "true", "false") ?: "null", fault->address,
			fault->inode ? name : "null");
		json_number(out, ",\"page\":", fault->inode, fault->pgoff);
		fprintf(out, ",\"code\":\"%#" PRIx64 "\"", fault->ip);
		print_json_parts(out, fault);
		json_number(out, ",\"read_bytes\":", fault_rows_has_bytes(fault),
			    fault->read_bytes);
		json_number(out, ",\"calls_ns\":", fault_rows_has_calls(fault), fault->handler_ns);
		fprintf(out, ",\"whole\":%s,\"mechanism\":", fault->whole ? "true" : "false");
		if (fault_rows_mechanism(fault))
			fprintf(out, "\"%s\"}\n", fault_rows_mechanism(fault));
		else
			fputs("null}\n", out);
	}
	free(name);
	free(thread);
	return name && thread ? 0 : -ENOMEM;
}

/* An explain_sink. */
static int fault_rows_add(void *context, const struct explained *fault)
{
	struct fault_rows *rows = context;
	const char *file = fault_rows_file(rows, fault);
	int err = file ? 0 : -ENOMEM;

	if (!err && rows->json)
		err = print_json_row(rows, fault, file);
	else if (!err)
		print_csv_row(rows, fault, file);
	return err ? err : ferror(rows->out) ? -EIO : 0;
}

/* Frees the memory of the rows, and checks the output. */
static int fault_rows_end(struct fault_rows *rows)
{
	FILE *out = rows->out;

	free(rows->file);
	*rows = (struct fault_rows){ 0 };
	return out && (fflush(out) || ferror(out)) ? -(errno ?: EIO) : 0;
}

static int rows_open(void **data, FILE *out, const struct analysis *analysis, bool json)
{
	*data = calloc(1, sizeof(struct fault_rows));
	return *data ? fault_rows_begin(*data, out, analysis, json) : -ENOMEM;
}

static int csv_rows_open(void **data, FILE *out, const struct analysis *analysis)
{
	return rows_open(data, out, analysis, false);
}

static int json_rows_open(void **data, FILE *out, const struct analysis *analysis)
{
	return rows_open(data, out, analysis, true);
}

/* The report has the warnings about missing data: a row has no place for them. */
static int rows_end(void *data, const struct missing_faults *missing)
{
	int err = fault_rows_end(data);

	(void)missing;
	free(data);
	return err;
}

const struct fault_printer csv_rows_printer = {
	.open = csv_rows_open,
	.fault = fault_rows_add,
	.end = rows_end,
};

const struct fault_printer json_rows_printer = {
	.open = json_rows_open,
	.fault = fault_rows_add,
	.end = rows_end,
};

/*
 * Prints a recording's block device requests, or mappings, as CSV, in recording order. File and
 * thread names come from the analysis at that time. An unknown value is an empty cell.
 */

struct item_rows {
	FILE *out;
	const struct analysis *analysis;
};

static int item_rows_begin(void **data, FILE *out, const struct analysis *analysis,
			   const char *columns)
{
	struct item_rows *rows = malloc(sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	*rows = (struct item_rows){ out, analysis };
	*data = rows;
	return fputs(columns, out) < 0 ? -EIO : 0;
}

static int item_rows_end(void *data, const struct missing_faults *missing)
{
	struct item_rows *rows = data;
	FILE *out = rows->out;

	(void)missing;
	free(rows);
	errno = 0;
	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}

static void print_device(FILE *out, uint32_t dev)
{
	fprintf(out, ",%u:%u", dev >> 20, dev & 0xfffff);
}

/* The clocks on two CPUs differ slightly. */
static uint64_t request_start_ns(const struct pfstat_block *block)
{
	return block->insert_ns && block->insert_ns < block->issue_ns ? block->insert_ns :
									block->issue_ns;
}

static int print_request_row(const struct item_rows *rows, const struct pfstat_block *block)
{
	const bool of_file = block->event.flags & PFSTAT_BLOCK_FILE;
	const uint64_t start_ns = request_start_ns(block);
	const struct analysis *analysis = rows->analysis;
	const uint32_t flags = block->event.flags;
	FILE *out = rows->out;
	char *file = NULL;

	if (of_file) {
		file = analysis_file_name(analysis, block->fs_dev, block->inode);
		if (!file)
			return -ENOMEM;
	}
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",", start_ns,
		item_elapsed(start_ns, block->event.ns), block->event.pid, block->event.tid);
	csv_text(out, analysis_thread_name(analysis, block->event.tid));
	fprintf(out, ",%d,%d,%d,%d", !!(flags & PFSTAT_BLOCK_WRITE),
		!!(flags & PFSTAT_BLOCK_READAHEAD), !!(flags & PFSTAT_BLOCK_SWAP),
		!!(flags & PFSTAT_BLOCK_ERROR));
	print_device(out, block->dev);
	fprintf(out, ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",", (uint64_t)block->sector,
		block->bytes, item_elapsed(start_ns, block->issue_ns),
		item_elapsed(block->issue_ns, block->event.ns));
	if (of_file) {
		csv_text(out, file);
		fprintf(out, ",%" PRIu64 "\n", (uint64_t)block->pgoff);
	} else {
		fputs(",\n", out);
	}
	free(file);
	return ferror(out) ? -EIO : 0;
}

/* Only a mapping existing before the recording has an advice value. */
static const char *mapping_advice(const struct item_map *map)
{
	if (map->flags & ITEM_MAP_RANDOM)
		return "random";
	if (map->flags & ITEM_MAP_SEQUENTIAL)
		return "sequential";
	return map->ns || map->flags & ITEM_MAP_NO_ADVICE ? "" : "normal";
}

static int print_mapping_row(FILE *out, const struct item_map *map)
{
	/* The process executed a program: this is not a mapping. */
	if (!map->bytes)
		return 0;
	fprintf(out, "%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%#" PRIx64 ",%" PRIu64 ",%d,%d,%d,%d,%s",
		map->ns, map->pid, map->tid, map->address, map->bytes, !!(map->prot & PROT_READ),
		!!(map->prot & PROT_WRITE), !!(map->prot & PROT_EXEC),
		(map->flags & MAP_TYPE) == MAP_SHARED, mapping_advice(map));
	if (map->inode) {
		print_device(out, map->dev);
		fputc(',', out);
		csv_text(out, map->path);
		fprintf(out, ",%" PRIu64 "\n", map->pgoff);
	} else {
		fputs(",,,\n", out);
	}
	return ferror(out) ? -EIO : 0;
}

static int requests_begin(void **data, FILE *out, const struct analysis *analysis)
{
	return item_rows_begin(data, out, analysis,
			       "start_ns,duration_ns,pid,tid,thread,write,readahead,swap,error,"
			       "device,sector,bytes,queue_ns,device_ns,file,page\n");
}

static int requests_item(void *data, const struct item *item)
{
	if (item->type != ITEM_EVENT || item->event->type != PFSTAT_EVENT_BLOCK)
		return 0;
	return print_request_row(data, (const struct pfstat_block *)item->event);
}

static int mappings_begin(void **data, FILE *out, const struct analysis *analysis)
{
	return item_rows_begin(data, out, analysis,
			       "start_ns,pid,tid,address,bytes,read,write,execute,shared,advice,"
			       "device,file,page\n");
}

static int mappings_item(void *data, const struct item *item)
{
	const struct item_rows *rows = data;

	return item->type == ITEM_MAP ? print_mapping_row(rows->out, item->map) : 0;
}

const struct fault_printer requests_csv_printer = {
	.open = requests_begin,
	.item = requests_item,
	.end = item_rows_end,
};

const struct fault_printer mappings_csv_printer = {
	.open = mappings_begin,
	.item = mappings_item,
	.end = item_rows_end,
};
