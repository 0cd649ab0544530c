// SPDX-License-Identifier: GPL-2.0-only
/* A unit test compares the shape with Documentation/formats/pfdrive-study-io.schema.json. */
#include <math.h>
#include <stdlib.h>

#include "bench/io/io_report.h"
#include "print/json/json_accounts.h"
#include "print/json/json_parts.h"
#include "print/json/json_spread.h"
#include "util/json_value.h"

static const char *const caches[NR_IO_CACHES] = IO_CACHE_NAMES;

static json_t *io_json_meminfo_of(const struct meminfo *meminfo)
{
	return json_pack("{so so so so}", "available_kb", value_known(meminfo->available),
			 "buffers_kb", value_known(meminfo->buffers), "cached_kb",
			 value_known(meminfo->cached), "dirty_kb", value_known(meminfo->dirty));
}

static json_t *io_json_moment_of(const struct meminfo *meminfo, uint64_t resident)
{
	return json_pack("{so so}", "meminfo", io_json_meminfo_of(meminfo), "resident_pages",
			 value_count(resident));
}

static json_t *io_json_pass_of(const struct io_row *row, const struct io_pass *pass)
{
	return json_pack("{so so so so so so so so}", "elapsed_ns", value_count(io_pass_ns(pass)),
			 "map_ns", value_count(pass->map_ns), "move_ns", value_count(pass->move_ns),
			 "sync_ns", value_count_if(pass->synced, pass->sync_ns), "mib_per_s",
			 value_real(io_report_rate(row, pass)), "rusage", json_usage(&pass->usage),
			 "before", io_json_moment_of(&pass->before, pass->resident_before), "after",
			 io_json_moment_of(&pass->after, pass->resident_after));
}

static json_t *io_json_passes_of(const struct io_row *row)
{
	json_t *passes = json_array();
	unsigned int i;

	for (i = 0; i < row->nr_passes; i++)
		passes = value_appended(passes, io_json_pass_of(row, &row->passes[i]));
	return passes;
}

static struct json_spread io_json_spread_of(const struct io_row *row)
{
	json_t **values = calloc(row->nr_passes, sizeof(json_t *));
	struct json_spread pair = { 0 };
	unsigned int i;

	for (i = 0; values && i < row->nr_passes; i++) {
		values[i] = io_json_pass_of(row, &row->passes[i]);
		if (!values[i])
			break;
	}
	if (values && i == row->nr_passes)
		pair = json_spread_of(values, row->nr_passes);
	while (values && i)
		json_decref(values[--i]);
	free(values);
	return pair;
}

static json_t *io_json_syscall_of(const struct report *seen, const struct syscall_row *row)
{
	char *name = view_syscall_name(seen, row->number);
	json_t *object = json_pack("{so so so so so}", "name", value_text(name), "number",
				   value_count(row->number), "error", value_count(row->error),
				   "count", value_count(row->value.count), "total_ns",
				   value_count(row->value.total_ns));

	free(name);
	return object;
}

static json_t *io_json_syscalls_of(const struct report *seen)
{
	json_t *array;
	size_t i;

	if (!seen->bpf.have_counts)
		return json_null();
	array = json_array();
	for (i = 0; i < seen->syscalls.nr; i++)
		array = value_appended(array, io_json_syscall_of(seen, &seen->syscalls.rows[i]));
	return array;
}

static json_t *io_json_classes_of(const struct summary_figures *figures)
{
	json_t *classes = json_object();
	enum pfstat_class class;

	for (class = 0; class < PFSTAT_NR_CLASSES; ++class)
		classes = value_with(classes, fault_class_name((enum fault_class) class),
				     value_count(figures->classes[class].count));
	return classes;
}

static json_t *io_json_watched_of(const struct io_row *row)
{
	const struct report *seen = row->seen;
	struct summary_figures figures;

	summary_figures(seen->summary, &figures);
	return json_pack("{so so so so so so so so so so so so so}", "pass",
			 io_json_pass_of(row, &row->watched), "overhead",
			 value_real(io_report_overhead(row)), "system_calls",
			 value_known(io_report_syscalls(seen)), "syscalls",
			 io_json_syscalls_of(seen), "off_cpu_count",
			 value_known(seen->bpf.off_cpu_count), "calls",
			 value_known(seen->cost.calls), "lost", value_known(seen->losses.records),
			 "events_lost", value_known(seen->losses.events), "events_skipped",
			 value_known(seen->losses.events_skipped), "faults",
			 value_count(figures.faults), "major", value_count(figures.major),
			 "classes", io_json_classes_of(&figures), "ledger",
			 json_ledger(&seen->ledger));
}

static json_t *io_json_row_of(const struct io_row *row)
{
	struct json_spread pair = io_json_spread_of(row);
	char name[64];

	io_method_name(&row->method, name, sizeof(name));
	return json_pack("{ss so so so so so so so so so}", "way", name, "direction",
			 json_string(row->method.write ? "write" : "read"), "block_bytes",
			 value_count_if(!row->method.map, row->method.block), "cache",
			 json_string(caches[row->cache]), "files", value_count(row->nr_files),
			 "bytes", value_count(row->nr_files * row->bytes), "passes",
			 io_json_passes_of(row), "mean", pair.mean, "stddev", pair.stddev,
			 "watched", io_json_watched_of(row));
}

static json_t *io_json_environment_of(const struct io_report *report)
{
	const struct environment *e = &report->environment;

	return json_pack("{so so so so so so so so so so so so so}", "pfdrive",
			 value_text(e->version), "source", value_text(e->source), "kernel",
			 value_text(e->kernel), "machine", value_text(e->machine), "cpus",
			 value_count_if(e->cpus, e->cpus), "memory_bytes",
			 value_count_if(e->memory_bytes, e->memory_bytes), "clocksource",
			 value_text(e->clocksource), "virtualization",
			 value_text(e->virtualization), "folder", value_text(report->folder),
			 "filesystem", value_text(e->filesystem), "device", value_text(e->device),
			 "readahead_bytes",
			 value_count_if(e->readahead_bytes >= 0, e->readahead_bytes), "file_bytes",
			 value_count(report->file_bytes));
}

static json_t *io_json_missing_of(const struct report *seen)
{
	return seen->bpf.known ? json_null() : value_text(seen->bpf.missing);
}

int io_json(FILE *out, const struct io_report *report)
{
	json_t *rows = json_array(), *object;
	unsigned int i;

	for (i = 0; i < report->nr_rows; i++)
		rows = value_appended(rows, io_json_row_of(&report->rows[i]));
	object = json_pack("{so so so}", "environment", io_json_environment_of(report),
			   "bpf_missing", io_json_missing_of(report->rows[0].seen), "rows", rows);
	return value_print(out, object);
}
