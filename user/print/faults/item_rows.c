// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a recording's block device requests, or mappings, as CSV, in recording order. File and
 * thread names come from the analysis at that time. An unknown value is an empty cell.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "print/csv_text.h"
#include "print/printers.h"

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
