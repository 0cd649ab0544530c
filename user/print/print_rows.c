// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a recording as rows, for notebooks and scripts, while it is read: logical faults as CSV or
 * as lines of JSON, block device requests and mappings as CSV.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/fault/mechanism.h"
#include "analyze/groups/address_spaces.h"
#include "fields/fields.h"
#include "print/csv_text.h"
#include "print/json_text.h"
#include "print/printers.h"

/*
 * The columns of a table: one row for each, in their order. The CSV header, the keys in JSON,
 * `pfdrive report --columns` and the types in Python all come from the rows. A text is NULL if it is
 * not known, and then the cell is empty, in JSON null.
 */

static const char *cell_text(const struct field *column, const void *row)
{
	return *(const char *const *)((const char *)row + column->offset);
}

static bool cell_is_known(const struct field *column, const void *row)
{
	switch (column->type) {
	case FIELD_KNOWN:
		return field_number(column, row) != COUNT_NA;
	case FIELD_POINTER:
		return cell_text(column, row);
	default:
		return !column->known || column->known(NULL, row);
	}
}

static int print_row_cell(FILE *out, const struct field *column, const void *row, bool json)
{
	const char *const quote = json ? "\"" : "";

	if (!cell_is_known(column, row)) {
		if (json)
			fputs_unlocked("null", out);
		return 0;
	}
	switch (column->type) {
	case FIELD_FLAG:
		if (json) {
			fputs_unlocked(field_number(column, row) ? "true" : "false", out);
			return 0;
		}
		/* fall through */
	case FIELD_COUNT:
	case FIELD_KNOWN:
		csv_text_number(out, field_number(column, row));
		return 0;
	case FIELD_ADDRESS:
		fputs_unlocked(quote, out);
		csv_text_address(out, field_number(column, row));
		fputs_unlocked(quote, out);
		return 0;
	default:
		if (json)
			return json_text_print(out, cell_text(column, row));
		csv_text(out, cell_text(column, row));
		return 0;
	}
}

static void print_key(FILE *out, const char *key)
{
	putc_unlocked('"', out);
	fputs_unlocked(key, out);
	fputs_unlocked("\":", out);
}

static int print_row(FILE *out, const struct fields *table, const void *row, bool json)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < table->nr; i++) {
		if (i || json)
			putc_unlocked(i ? ',' : '{', out);
		if (json)
			print_key(out, table->rows[i].key);
		err = print_row_cell(out, &table->rows[i], row, json);
	}
	fputs_unlocked(json ? "}\n" : "\n", out);
	return err ? err : ferror_unlocked(out) ? -EIO : 0;
}

static int print_csv_head(FILE *out, const struct fields *table)
{
	unsigned int i;

	for (i = 0; i < table->nr; i++)
		fprintf(out, "%s%s", i ? "," : "", table->rows[i].key);
	return fputc('\n', out) < 0 ? -EIO : 0;
}

/* The type in Python's tables: a name of Arrow, and of numpy. */
static const char *column_type(const struct field *column)
{
	switch (column->type) {
	case FIELD_COUNT:
	case FIELD_KNOWN:
		return column->bytes == sizeof(uint32_t) ? "uint32" : "int64";
	case FIELD_ADDRESS:
		return "uint64";
	case FIELD_FLAG:
		return "bool";
	default:
		return "string";
	}
}

static void print_columns(FILE *out, const struct fields *table)
{
	const struct field *column;

	for (column = table->rows; column < table->rows + table->nr; column++) {
		fprintf(out, "%s,%s,%s,%d,", table->name, column->key, column_type(column),
			column->known || column->type == FIELD_KNOWN ||
				column->type == FIELD_POINTER);
		csv_text(out, column->about);
		fputc('\n', out);
	}
}

/*
 * Logical faults, ordered by end time. File and thread names come from the analysis at fault time.
 * Code has the names given to the analysis before, see recording_symbols_ahead().
 */

struct fault_row {
	uint64_t start_ns, duration_ns, address, page, code, read_bytes, calls_ns;
	uint64_t parts_ns[NR_PARTS];
	uint32_t pid, tid, line;
	const char *thread, *class, *file, *mechanism, *function, *object, *source_file;
	bool major, solved, kernel, write, write_known, whole;
};

FIELD_FUNCTION(bool, fault_write_is_known, fault_row, it->write_known)
FIELD_FUNCTION(bool, fault_has_file, fault_row, it->file)
FIELD_FUNCTION(bool, fault_has_line, fault_row, it->source_file)

#define PART_COLUMN(name, spelling, title, rgb, hooks, traits) \
	FIELD_AS(spelling "_ns", KNOWN, fault_row, parts_ns[PART_##name], title),

static const struct field fault_columns[] = {
	FIELD(COUNT, fault_row, start_ns, "CLOCK_MONOTONIC at the start"),
	FIELD(KNOWN, fault_row, duration_ns, "the whole fault, or only the calls (column whole)"),
	FIELD(COUNT, fault_row, pid, "process"),
	FIELD(COUNT, fault_row, tid, "thread"),
	FIELD(POINTER, fault_row, thread, "thread name"),
	FIELD(STRING, fault_row, class, "class or kind"),
	FIELD(FLAG, fault_row, major, "a major fault"),
	FIELD(FLAG, fault_row, solved, "the page was mapped; 0: an error"),
	FIELD(FLAG, fault_row, kernel, "in kernel mode, for example in a system call"),
	FIELD(FLAG, fault_row, write, "a write", .known = fault_write_is_known),
	FIELD(ADDRESS, fault_row, address, "address of the access"),
	FIELD(POINTER, fault_row, file, "file path, empty for memory without a file"),
	FIELD(COUNT, fault_row, page, "page in the file", .known = fault_has_file),
	FIELD(ADDRESS, fault_row, code, "address of the instruction, 0: not known"),
	PARTS(PART_COLUMN)
		FIELD(KNOWN, fault_row, read_bytes,
		      "block reads submitted by the thread in the fault, complete at its end"),
	FIELD(KNOWN, fault_row, calls_ns, "in file operation calls"),
	FIELD(FLAG, fault_row, whole, "duration_ns is all of handle_mm_fault()"),
	FIELD(POINTER, fault_row, mechanism, "the kernel's work in the fault"),
	FIELD(POINTER, fault_row, function, "the instruction's function"),
	FIELD(POINTER, fault_row, object, "path of the program or library with the instruction"),
	FIELD(POINTER, fault_row, source_file, "the instruction's source file"),
	FIELD(COUNT, fault_row, line, "line in source_file", .known = fault_has_line),
};

static const struct fields fault_table = FIELDS("faults", NULL, fault_row, fault_columns);

struct fault_rows {
	FILE *out;
	const struct analysis *analysis; /* has the names */
	bool json;
	/* The last file: faults come in runs. */
	uint64_t inode;
	uint32_t dev, generation;
	char *file;
};

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

static bool fault_row_has_part(const struct explained *fault, enum part part)
{
	if (part_has(part, PART_OUTSIDE_CALLS) && !fault->whole)
		return false;
	return fault->parts_known &&
	       (!fault->perf || part_has(part, PART_BY_PERF) || fault->parts_ns[part]);
}

static void fault_row_fill_code(struct fault_row *row, const struct analysis *analysis,
				const struct explained *fault)
{
	const struct code_name *name = analysis_code_at(analysis, fault, &row->object);

	row->function = name->function;
	row->source_file = name->source;
	row->line = name->line;
}

/* perf reports neither whether a fault was a write, nor the end of a failed one. */
static void fault_row_fill(struct fault_row *row, const struct fault_rows *rows,
			   const struct explained *fault, const char *file)
{
	const bool ended = !(fault->perf & PFSTAT_PERF_NO_END);
	const enum mechanism mechanism = mechanism_of(fault);
	enum part part;

	*row = (struct fault_row){
		.start_ns = fault->start_ns,
		.duration_ns = ended ? fault->end_ns - fault->start_ns : COUNT_NA,
		.address = fault->address,
		.page = fault->pgoff,
		.code = fault->ip,
		.read_bytes = fault->parts_known && !fault->perf ? fault->read_bytes : COUNT_NA,
		.calls_ns = fault->calls ? fault->handler_ns : COUNT_NA,
		.pid = fault->pid,
		.tid = fault->tid,
		.thread = analysis_thread_name(rows->analysis, fault->tid),
		.class = fault_class_name(fault->class),
		.file = fault->inode ? file : NULL,
		.mechanism = mechanism ? mechanisms[mechanism].spelling : NULL,
		.major = fault->major,
		.solved = fault->solved,
		.kernel = !(fault->flags & PFSTAT_FLAG_USER),
		.write = fault->flags & PFSTAT_FLAG_WRITE,
		.write_known = !fault->perf,
		.whole = fault->whole,
	};
	for (part = 0; part < NR_PARTS; part++)
		row->parts_ns[part] =
			ended && fault_row_has_part(fault, part) ? fault->parts_ns[part] : COUNT_NA;
	fault_row_fill_code(row, rows->analysis, fault);
}

/* An explain_sink. */
static int fault_rows_add(void *context, const struct explained *fault)
{
	struct fault_rows *rows = context;
	const char *file = fault_rows_file(rows, fault);
	struct fault_row row;

	if (!file)
		return -ENOMEM;
	fault_row_fill(&row, rows, fault, file);
	return print_row(rows->out, &fault_table, &row, rows->json);
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
	struct fault_rows *rows = *data = malloc(sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	*rows = (struct fault_rows){ .out = out, .analysis = analysis, .json = json };
	return 0;
}

static int csv_rows_open(void **data, FILE *out, const struct analysis *analysis)
{
	return rows_open(data, out, analysis, false) ?: print_csv_head(out, &fault_table);
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
 * thread names come from the analysis at that time.
 */

struct request_row {
	uint64_t start_ns, duration_ns, sector, bytes, queue_ns, device_ns, page;
	uint32_t pid, tid;
	const char *thread, *device, *file;
	bool write, readahead, swap, error;
};

FIELD_FUNCTION(bool, request_has_file, request_row, it->file)

static const struct field request_columns[] = {
	FIELD(COUNT, request_row, start_ns, "CLOCK_MONOTONIC at the entry into the queue"),
	FIELD(COUNT, request_row, duration_ns, "until it was complete"),
	FIELD(COUNT, request_row, pid, "submitting process"),
	FIELD(COUNT, request_row, tid, "submitting thread"),
	FIELD(POINTER, request_row, thread, "thread name"),
	FIELD(FLAG, request_row, write, "a write"),
	FIELD(FLAG, request_row, readahead, "read-ahead"),
	FIELD(FLAG, request_row, swap, "of swap"),
	FIELD(FLAG, request_row, error, "it failed"),
	FIELD(STRING, request_row, device, "MAJOR:MINOR"),
	FIELD(COUNT, request_row, sector, "first sector, of 512 bytes"),
	FIELD(COUNT, request_row, bytes, "size"),
	FIELD(COUNT, request_row, queue_ns, "in the queue"),
	FIELD(COUNT, request_row, device_ns, "at the device"),
	FIELD(POINTER, request_row, file, "file path"),
	FIELD(COUNT, request_row, page, "first page in the file", .known = request_has_file),
};

static const struct fields request_table = FIELDS("requests", NULL, request_row, request_columns);

struct mapping_row {
	uint64_t start_ns, address, bytes, page;
	uint32_t pid, tid;
	const char *advice, *device, *file;
	bool read, write, execute, shared;
};

FIELD_FUNCTION(bool, mapping_has_file, mapping_row, it->file)

static const struct field mapping_columns[] = {
	FIELD(COUNT, mapping_row, start_ns, "CLOCK_MONOTONIC; 0: it existed before the recording"),
	FIELD(COUNT, mapping_row, pid, "process"),
	FIELD(COUNT, mapping_row, tid, "thread"),
	FIELD(ADDRESS, mapping_row, address, "first address"),
	FIELD(COUNT, mapping_row, bytes, "size"),
	FIELD(FLAG, mapping_row, read, "PROT_READ"),
	FIELD(FLAG, mapping_row, write, "PROT_WRITE"),
	FIELD(FLAG, mapping_row, execute, "PROT_EXEC"),
	FIELD(FLAG, mapping_row, shared, "MAP_SHARED"),
	FIELD(POINTER, mapping_row, advice, "the advice that applied when the recording began"),
	FIELD(POINTER, mapping_row, device, "MAJOR:MINOR"),
	FIELD(POINTER, mapping_row, file, "file path"),
	FIELD(COUNT, mapping_row, page, "first page in the file", .known = mapping_has_file),
};

static const struct fields mapping_table = FIELDS("mappings", NULL, mapping_row, mapping_columns);

struct item_rows {
	FILE *out;
	const struct analysis *analysis;
};

static int item_rows_begin(void **data, FILE *out, const struct analysis *analysis,
			   const struct fields *table)
{
	struct item_rows *rows = malloc(sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	*rows = (struct item_rows){ out, analysis };
	*data = rows;
	return print_csv_head(out, table);
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

#define DEVICE_BYTES 24

static const char *device_name(char name[DEVICE_BYTES], uint32_t dev)
{
	snprintf(name, DEVICE_BYTES, "%u:%u", dev >> 20, dev & 0xfffff);
	return name;
}

/* The clocks on two CPUs differ slightly. */
static uint64_t request_start_ns(const struct pfstat_block *block)
{
	return block->insert_ns && block->insert_ns < block->issue_ns ? block->insert_ns :
									block->issue_ns;
}

static int print_request_row(const struct item_rows *rows, const struct pfstat_block *block)
{
	const struct analysis *analysis = rows->analysis;
	const uint64_t start_ns = request_start_ns(block);
	const uint32_t flags = block->event.flags;
	char device[DEVICE_BYTES], *file = NULL;
	int err;

	if (flags & PFSTAT_BLOCK_FILE) {
		file = analysis_file_name(analysis, block->fs_dev, block->inode);
		if (!file)
			return -ENOMEM;
	}
	err = print_row(rows->out, &request_table,
			&(struct request_row){
				.start_ns = start_ns,
				.duration_ns = item_elapsed(start_ns, block->event.ns),
				.pid = block->event.pid,
				.tid = block->event.tid,
				.thread = analysis_thread_name(analysis, block->event.tid),
				.write = flags & PFSTAT_BLOCK_WRITE,
				.readahead = flags & PFSTAT_BLOCK_READAHEAD,
				.swap = flags & PFSTAT_BLOCK_SWAP,
				.error = flags & PFSTAT_BLOCK_ERROR,
				.device = device_name(device, block->dev),
				.sector = block->sector,
				.bytes = block->bytes,
				.queue_ns = item_elapsed(start_ns, block->issue_ns),
				.device_ns = item_elapsed(block->issue_ns, block->event.ns),
				.file = file,
				.page = block->pgoff,
			},
			false);
	free(file);
	return err;
}

/* Only a mapping existing before the recording has an advice value. */
static const char *mapping_advice(const struct item_map *map)
{
	if (map->flags & ITEM_MAP_RANDOM)
		return "random";
	if (map->flags & ITEM_MAP_SEQUENTIAL)
		return "sequential";
	return map->ns || map->flags & ITEM_MAP_NO_ADVICE ? NULL : "normal";
}

static int print_mapping_row(FILE *out, const struct item_map *map)
{
	char device[DEVICE_BYTES];

	/* The process executed a program: this is not a mapping. */
	if (!map->bytes)
		return 0;
	return print_row(out, &mapping_table,
			 &(struct mapping_row){
				 .start_ns = map->ns,
				 .pid = map->pid,
				 .tid = map->tid,
				 .address = map->address,
				 .bytes = map->bytes,
				 .read = map->prot & PROT_READ,
				 .write = map->prot & PROT_WRITE,
				 .execute = map->prot & PROT_EXEC,
				 .shared = (map->flags & MAP_TYPE) == MAP_SHARED,
				 .advice = mapping_advice(map),
				 .device = map->inode ? device_name(device, map->dev) : NULL,
				 .file = map->inode ? map->path : NULL,
				 .page = map->pgoff,
			 },
			 false);
}

static int requests_begin(void **data, FILE *out, const struct analysis *analysis)
{
	return item_rows_begin(data, out, analysis, &request_table);
}

static int requests_item(void *data, const struct item *item)
{
	if (item->type != ITEM_EVENT || item->event->type != PFSTAT_EVENT_BLOCK)
		return 0;
	return print_request_row(data, (const struct pfstat_block *)item->event);
}

static int mappings_begin(void **data, FILE *out, const struct analysis *analysis)
{
	return item_rows_begin(data, out, analysis, &mapping_table);
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

int print_rows_columns(FILE *out)
{
	fputs("rows,column,type,may_be_empty,meaning\n", out);
	print_columns(out, &fault_table);
	print_columns(out, &request_table);
	print_columns(out, &mapping_table);
	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}
