// SPDX-License-Identifier: GPL-2.0-only
/*
 * The extras of a run in JSON: getrusage(2) compared with eBPF, hardware counters, simulated
 * caches, mappings, system calls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fields/tables.h"
#include "print/json/json_extras.h"
#include "util/json_value.h"

struct usage_row {
	struct usage_line line;
	int64_t difference;
	bool is_known; /* the difference */
};

FIELD_FUNCTION(bool, usage_is_known, usage_row, it->is_known)
/* The reason as the table prints it, or null without a difference. */
FIELD_FUNCTION(json_t *, usage_reason, usage_row,
	       it->is_known && it->difference ? value_text(it->line.reason ?: "unexplained") :
						json_null())

static const struct field usage_line_rows[] = {
	FIELD_AS("rusage", KNOWN, usage_row, line.rusage, "From getrusage(2); null: n/a."),
	FIELD_AS("ebpf", KNOWN, usage_row, line.ebpf, "From eBPF; null: not available."),
	FIELD(SIGNED, usage_row, difference, "rusage - ebpf; null when either is.",
	      .known = usage_is_known),
	FIELD_AS("source", STRING, usage_row, line.source,
		 "The source in eBPF, or why there is none."),
	FIELD_OF_ALL("reason", MADE,
		     "Why they differ, or unexplained; null when they do not, or one is not known.",
		     .make = usage_reason, .definition = "text_or_null"),
};

static const struct fields usage_line_fields =
	FIELDS("usage_line", "One figure from both sides.", usage_row, usage_line_rows);

FIELD_FUNCTION(json_t *, usage_rusage, usage_row, value_known(it->line.rusage))
FIELD_FUNCTION(json_t *, usage_ebpf, usage_row, value_known(it->line.ebpf))

static const struct field usage_pair_rows[] = {
	FIELD_OF_ALL("rusage", MADE, NULL, .make = usage_rusage, .definition = "figure_or_null"),
	FIELD_OF_ALL("ebpf", MADE, NULL, .make = usage_ebpf, .definition = "figure_or_null"),
};

static const struct fields usage_pair_fields =
	FIELDS("usage_pair", NULL, usage_row, usage_pair_rows);

struct usages_row {
	struct usage_row by[USAGE_NR];
};

#define USAGE_ROW(name, usage, fields, about) \
	FIELD_AS(name, OBJECT, usages_row, by[USAGE_##usage], about, .of = &(fields))
#define USAGE_ROWS(fields)                                                                         \
	USAGE_ROW("utime_us", UTIME, fields, "CPU time in user mode."),                            \
		USAGE_ROW("stime_us", STIME, fields, "CPU time in the kernel."),                   \
		USAGE_ROW("cpu_us", CPU, fields,                                                   \
			  "Both; eBPF: for a drive, the loop's time minus the time off the CPU."), \
		USAGE_ROW("maxrss_kb", MAXRSS, fields, "Greatest resident set, KiB."),             \
		USAGE_ROW("minflt", MINFLT, fields,                                                \
			  "Minor faults; eBPF: returns of handle_mm_fault()."),                    \
		USAGE_ROW("majflt", MAJFLT, fields, "Major ones."),                                \
		USAGE_ROW("inblock", INBLOCK, fields,                                              \
			  "512 bytes each; eBPF: read requests by the threads."),                  \
		USAGE_ROW("oublock", OUBLOCK, fields,                                              \
			  "512 bytes each, made dirty; eBPF: write requests by the threads."),     \
		USAGE_ROW("nvcsw", NVCSW, fields,                                                  \
			  "Voluntary context switches; eBPF: off-CPU intervals, asleep."),         \
		USAGE_ROW("nivcsw", NIVCSW, fields,                                                \
			  "Involuntary ones; eBPF: off-CPU intervals, runnable."),                 \
		USAGE_ROW("syscalls", SYSCALLS, fields,                                            \
			  "System calls, which getrusage(2) does not count.")

static const struct field usage_rows[] = { USAGE_ROWS(usage_line_fields) };
static const struct field usage_figures_rows[] = { USAGE_ROWS(usage_pair_fields) };

const struct fields usage_fields =
	FIELDS("usage", "getrusage(2) next to eBPF's view of the same.", usages_row, usage_rows);
const struct fields usage_figures_fields =
	FIELDS("usage_figures", "The numbers in usage.", usages_row, usage_figures_rows);

static const struct fields_run no_run;

static json_t *usages_with(const struct fields *fields, const struct usage_line *lines)
{
	struct usages_row row = { 0 };
	size_t i;

	for (i = 0; i < USAGE_NR; i++) {
		row.by[i].line = lines[i];
		row.by[i].is_known = rusage_check_difference(&lines[i], &row.by[i].difference);
	}
	return fields_json(fields, &no_run, &row);
}

json_t *json_both_usages(const struct usage_line *lines)
{
	return usages_with(&usage_fields, lines);
}

json_t *json_both_usages_figures(const struct usage_line *lines)
{
	return usages_with(&usage_figures_fields, lines);
}

struct syscall_total_row {
	struct syscall_total total;
	char *name;
	uint64_t number;
	double percent;
};

static const struct field syscall_total_rows[] = {
	FIELD(POINTER, syscall_total_row, name,
	      "Ends in (32-bit) for a 32-bit call. null when this machine knows no such call."),
	FIELD(COUNT, syscall_total_row, number, NULL),
	FIELD_AS("calls", COUNT, syscall_total_row, total.calls, NULL),
	FIELD_AS("errors", COUNT, syscall_total_row, total.errors, "Failed calls."),
	FIELD_AS("total_ns", COUNT, syscall_total_row, total.total_ns,
		 "From entry to return, asleep or not."),
	FIELD(REAL, syscall_total_row, percent, "Share of the time of all calls."),
};

const struct fields syscall_total_fields =
	FIELDS("syscall_total", NULL, syscall_total_row, syscall_total_rows);

json_t *json_syscall_totals(const struct report *run)
{
	const struct report_extras *extras = &run->extras;
	const struct syscall_total sum = syscall_totals_sum(extras->syscalls, extras->nr_syscalls);
	const struct syscall_total *total = extras->syscalls;
	struct syscall_total_row row;
	json_t *array;
	size_t i;

	if (!run->bpf.have_counts)
		return json_null();
	array = json_array();
	for (i = 0; i < extras->nr_syscalls; i++, total++) {
		row = (struct syscall_total_row){ *total, view_syscall_name(run, total->number),
						  view_syscall_index(total->number),
						  100 * view_share(total->total_ns, sum.total_ns) };
		array = value_appended(array, fields_json(&syscall_total_fields, &no_run, &row));
		free(row.name);
	}
	return array;
}

FIELD_FUNCTION(bool, hw_count_known, hw_count, !it->missing[0])

static const struct field hw_count_rows[] = {
	FIELD_AS("count", COUNT, hw_count, value,
		 "raw * enabled_ns / running_ns; null: not available.", .known = hw_count_known),
	FIELD(COUNT, hw_count, raw, "The counter's own value.", .known = hw_count_known),
	FIELD(COUNT, hw_count, enabled_ns, "The time for which it was enabled.",
	      .known = hw_count_known),
	FIELD(COUNT, hw_count, running_ns,
	      "The time for which it counted, in turns with other counters.",
	      .known = hw_count_known),
	FIELD(TEXT, hw_count, missing, "Why it is not available; null when it is."),
};

static const struct fields hw_count_fields = FIELDS("counter", NULL, hw_count, hw_count_rows);

struct hw_operation {
	struct hw_count accesses, misses;
	double miss_rate;
};

static const struct field hw_operation_rows[] = {
	FIELD(OBJECT, hw_operation, accesses, NULL, .of = &hw_count_fields),
	FIELD(OBJECT, hw_operation, misses, NULL, .of = &hw_count_fields),
	FIELD(REAL, hw_operation, miss_rate,
	      "misses / accesses, from 0 to 1; null when one count is not available."),
};

static const struct fields hw_operation_fields =
	FIELDS("counter_operation",
	       "The accesses and misses are one group: counted at the same times.", hw_operation,
	       hw_operation_rows);

/* The same, only numbers varying between runs: a mean may have no integers. */
FIELD_FUNCTION(json_t *, hw_accesses, hw_operation,
	       value_count_if(hw_count_known(run, &it->accesses), it->accesses.value))
FIELD_FUNCTION(json_t *, hw_misses, hw_operation,
	       value_count_if(hw_count_known(run, &it->misses), it->misses.value))

static const struct field hw_figure_rows[] = {
	FIELD_OF_ALL("accesses", MADE, NULL, .make = hw_accesses, .definition = "figure_or_null"),
	FIELD_OF_ALL("misses", MADE, NULL, .make = hw_misses, .definition = "figure_or_null"),
	FIELD(REAL, hw_operation, miss_rate, NULL),
};

static const struct fields hw_figure_fields =
	FIELDS("counter_figure", NULL, hw_operation, hw_figure_rows);

struct hw_operations {
	struct hw_operation by[HW_NR_OPS];
};

#define HW_OPERATION_ROWS(fields)                                                              \
	FIELD_AS("read", OBJECT, hw_operations, by[HW_READ], NULL, .of = &(fields)),           \
		FIELD_AS("write", OBJECT, hw_operations, by[HW_WRITE], NULL, .of = &(fields)), \
		FIELD_AS("prefetch", OBJECT, hw_operations, by[HW_PREFETCH], NULL,             \
			 .of = &(fields))

static const struct field hw_operations_rows[] = { HW_OPERATION_ROWS(hw_operation_fields) };
static const struct field hw_figures_rows[] = { HW_OPERATION_ROWS(hw_figure_fields) };

static const struct fields hw_operations_fields =
	FIELDS("counter_operations", "One cache.", hw_operations, hw_operations_rows);
static const struct fields hw_figures_fields =
	FIELDS("counter_figure_operations", NULL, hw_operations, hw_figures_rows);

struct counters_row {
	uint64_t l1d_bytes, walked_bytes;
	struct hw_operations caches[HW_NR_CACHES];
};

static const struct field counters_rows[] = {
	FIELD(NONZERO, counters_row, l1d_bytes,
	      "The CPU's L1D size; null: the kernel does not report it."),
	FIELD(COUNT, counters_row, walked_bytes,
	      "Read before the loop, so that L1D held no part of the file."),
	FIELD_AS("l1d", OBJECT, counters_row, caches[HW_L1D], NULL, .of = &hw_operations_fields),
	FIELD_AS("dtlb", OBJECT, counters_row, caches[HW_DTLB], NULL, .of = &hw_operations_fields),
};

const struct fields counters_fields = FIELDS("counters",
					     "perf_event_open(2)'s hardware cache events.",
					     counters_row, counters_rows);

static const struct field counter_figures_rows[] = {
	FIELD_AS("l1d", OBJECT, counters_row, caches[HW_L1D], NULL, .of = &hw_figures_fields),
	FIELD_AS("dtlb", OBJECT, counters_row, caches[HW_DTLB], NULL, .of = &hw_figures_fields),
};

const struct fields counter_figures_fields =
	FIELDS("counter_figures", "The numbers in counters.", counters_row, counter_figures_rows);

static json_t *counters_with(const struct fields *fields, const struct hw_counts *counts)
{
	struct counters_row row;
	enum hw_cache cache;
	enum hw_op op;

	if (!counts)
		return json_null();
	row.l1d_bytes = counts->l1d_bytes;
	row.walked_bytes = counts->walked_bytes;
	for (cache = 0; cache < HW_NR_CACHES; cache++)
		for (op = 0; op < HW_NR_OPS; op++)
			row.caches[cache].by[op] =
				(struct hw_operation){ counts->counts[cache][op][HW_ACCESS],
						       counts->counts[cache][op][HW_MISS],
						       hw_counts_miss_rate(counts, cache, op) };
	return fields_json(fields, &no_run, &row);
}

json_t *json_counters(const struct hw_counts *counts)
{
	return counters_with(&counters_fields, counts);
}

json_t *json_counter_figures(const struct hw_counts *counts)
{
	return counters_with(&counter_figures_fields, counts);
}

struct simulated_access {
	int64_t references, d1_misses, ll_misses;
};

static const struct field simulated_access_rows[] = {
	FIELD(SIGNED, simulated_access, references,
	      "Data references. A difference between two runs: beside the loop it may be below 0."),
	FIELD(SIGNED, simulated_access, d1_misses, NULL),
	FIELD(SIGNED, simulated_access, ll_misses, NULL),
};

static const struct fields simulated_access_fields =
	FIELDS("simulated_access", NULL, simulated_access, simulated_access_rows);

static struct simulated_access simulated_reads(const int64_t *events)
{
	return (struct simulated_access){ events[CACHEGRIND_DR], events[CACHEGRIND_D1MR],
					  events[CACHEGRIND_DLMR] };
}

static struct simulated_access simulated_writes(const int64_t *events)
{
	return (struct simulated_access){ events[CACHEGRIND_DW], events[CACHEGRIND_D1MW],
					  events[CACHEGRIND_DLMW] };
}

struct simulated_function {
	const char *name;
	struct simulated_access read, write;
};

static const struct field simulated_function_rows[] = {
	FIELD(POINTER, simulated_function, name, NULL),
	FIELD(OBJECT, simulated_function, read, NULL, .of = &simulated_access_fields),
	FIELD(OBJECT, simulated_function, write, NULL, .of = &simulated_access_fields),
};

static const struct fields simulated_function_fields =
	FIELDS("simulated_function", NULL, simulated_function, simulated_function_rows);

static const char *const cache_levels[] = { "I1", "D1", "LL" };

struct simulated_cache {
	unsigned int level;
	struct cache_geometry size;
};

static const struct field simulated_cache_rows[] = {
	FIELD_AS("name", WORD, simulated_cache, level,
		 "I1: instructions, D1: data, LL: the last level, of both.",
		 FIELD_WORDS(cache_levels)),
	FIELD_AS("bytes", COUNT, simulated_cache, size.bytes, NULL),
	FIELD_AS("ways", COUNT, simulated_cache, size.ways, NULL),
	FIELD_AS("line_bytes", COUNT, simulated_cache, size.line, NULL),
};

static const struct fields simulated_cache_fields =
	FIELDS("simulated_cache", NULL, simulated_cache, simulated_cache_rows);

struct simulated_caches {
	const char *version;
	struct simulated_cache caches[CACHE_SIMULATION_LEVELS];
	size_t nr_caches;
	struct simulated_access read, write;
	struct simulated_function *functions;
	size_t nr;
};

FIELD_FUNCTION(json_t *, simulator_name, simulated_caches,
	       json_sprintf("%s, cachegrind", it->version))

static const struct field simulated_caches_rows[] = {
	FIELD_OF_ALL("simulator", MADE, "Name and version.", .make = simulator_name),
	FIELD(ARRAY, simulated_caches, caches, "The simulated caches, not those of this machine.",
	      .of = &simulated_cache_fields, FIELD_NR(simulated_caches, nr_caches)),
	FIELD(OBJECT, simulated_caches, read, NULL, .of = &simulated_access_fields),
	FIELD(OBJECT, simulated_caches, write, NULL, .of = &simulated_access_fields),
	FIELD(ROWS, simulated_caches, functions,
	      "The same by function, most references first. Functions outside the loop show the "
	      "difference between two starts of the program.",
	      .of = &simulated_function_fields, FIELD_NR(simulated_caches, nr)),
};

const struct fields simulated_caches_fields = FIELDS("simulated_caches",
						     "A run with the accesses, less one without.",
						     simulated_caches, simulated_caches_rows);

json_t *json_simulation(const struct cache_simulation *simulation)
{
	static const struct cache_geometry sizes[] = CACHE_SIMULATION_GEOMETRY;
	const struct cachegrind *loop;
	struct simulated_caches row;
	json_t *json = NULL;
	size_t i;

	if (!simulation)
		return json_null();
	loop = &simulation->loop;
	row = (struct simulated_caches){
		.version = simulation->version,
		.nr_caches = CACHE_SIMULATION_LEVELS,
		.read = simulated_reads(loop->summary),
		.write = simulated_writes(loop->summary),
		.functions = calloc(loop->nr + 1, sizeof(*row.functions)),
		.nr = loop->nr,
	};
	for (i = 0; i < CACHE_SIMULATION_LEVELS; i++)
		row.caches[i] = (struct simulated_cache){ i, sizes[i] };
	for (i = 0; row.functions && i < loop->nr; i++)
		row.functions[i] = (struct simulated_function){
			loop->functions[i].name,
			simulated_reads(loop->functions[i].events),
			simulated_writes(loop->functions[i].events),
		};
	if (row.functions)
		json = fields_json(&simulated_caches_fields, &no_run, &row);
	free(row.functions);
	return json;
}

struct map_row {
	struct map_line line;
	const struct map_line *at; /* in maps: the explanation looks at the neighbours */
	const struct map_list *maps;
};

static json_t *map_permissions(const struct report *run __attribute__((unused)), const void *object)
{
	const struct map_line *line = &((const struct map_row *)object)->line;
	const char rights[] = { line->prot & PROT_READ ? 'r' : '-',
				line->prot & PROT_WRITE ? 'w' : '-',
				line->prot & PROT_EXEC ? 'x' : '-', line->shared ? 's' : 'p',
				'\0' };

	return json_string(rights);
}

static json_t *map_explanation(const struct report *run __attribute__((unused)), const void *object)
{
	const struct map_row *row = object;
	char text[4352];

	map_line_explain(row->at, row->maps, text, sizeof(text));
	return value_text(text);
}

static const char *const map_kinds[] = MAP_KIND_NAMES;
static const char *const map_advices[] = { "normal", "random", "sequential" };

FIELD_FUNCTION(json_t *, map_bytes, map_row, value_count(it->line.end - it->line.start))
FIELD_FUNCTION(json_t *, map_ra_bytes, map_row, value_known(map_line_ra_bytes(&it->line)))
FIELD_FUNCTION(bool, map_has_file, map_row, it->line.inode)
FIELD_FUNCTION(bool, map_knows_hooks, map_row, it->maps->hooks_known)
FIELD_FUNCTION(bool, map_knows_advice, map_row, it->line.advice_known)

static const struct field map_rows[] = {
	FIELD_AS("address", WIDE, map_row, line.start,
		 "The first; a string with digits when it needs 64 bits."),
	FIELD_OF_ALL("bytes", MADE, NULL, .make = map_bytes, .definition = "count"),
	FIELD_OF_ALL("rights", MADE,
		     "As in /proc/PID/maps: r, w, x, then p (private) or s (shared).",
		     .make = map_permissions),
	FIELD_AS("offset", WIDE, map_row, line.offset, "In the file, bytes."),
	FIELD_AS("inode", WIDE, map_row, line.inode,
		 "null: no file. A string if a signed integer cannot hold it.",
		 .known = map_has_file),
	FIELD_AS("dev", COUNT, map_row, line.dev, "Major << 20 | minor.", .known = map_has_file),
	FIELD_AS("path", POINTER, map_row, line.path, "The kernel's name for it."),
	FIELD_AS("kind", WORD, map_row, line.kind, NULL, FIELD_WORDS(map_kinds)),
	FIELD_OF_ALL("explanation", MADE, "The same in words.", .make = map_explanation),
	FIELD_AS("tid", NONZERO, map_row, line.thread, "The thread whose stack it is."),
	FIELD_AS("resident_bytes", KNOWN, map_row, line.resident, "Rss in smaps."),
	FIELD_AS("pss_bytes", KNOWN, map_row, line.pss,
		 "Pss: shared pages divided by the number of processes that share them."),
	FIELD_AS("dirty_bytes", KNOWN, map_row, line.dirty, "Shared_Dirty and Private_Dirty."),
	FIELD_AS("anonymous_bytes", KNOWN, map_row, line.anonymous,
		 "Pages without a file, or copies of a file's pages."),
	FIELD_AS("swapped_bytes", KNOWN, map_row, line.swapped, "Swap."),
	FIELD_AS("hooked", FLAG, map_row, line.hooked,
		 "True if the pfstat module wraps the mapping's operations; null if the module "
		 "does not report it.",
		 .known = map_knows_hooks),
	FIELD_AS("advice", WORD, map_row, line.advice,
		 "From madvise(2); null when /proc/PID/smaps has no flags.",
		 FIELD_WORDS(map_advices), .known = map_knows_advice),
	FIELD_OF_ALL(
		"readahead_bytes", MADE,
		"The most that a read-ahead of its open file reads; 0: none; null: not hooked.",
		.make = map_ra_bytes, .definition = "count_or_null"),
	FIELD_AS("mmap_miss", KNOWN, map_row, line.mmap_miss,
		 "The kernel's counter for its open file: faults that had to start a read; null: "
		 "not hooked."),
};

static const struct fields map_fields = FIELDS("map", NULL, map_row, map_rows);

struct maps_row {
	pid_t pid;
	const char *program;
	struct map_row *rows;
	size_t nr;
};

static const struct field maps_rows[] = {
	FIELD(COUNT, maps_row, pid, NULL),
	FIELD(POINTER, maps_row, program, "The target of /proc/PID/exe."),
	FIELD_AS("maps", ROWS, maps_row, rows, "By address.", .of = &map_fields,
		 FIELD_NR(maps_row, nr)),
};

const struct fields process_maps_fields =
	FIELDS("process_maps", "A process's memory map, explained.", maps_row, maps_rows);

json_t *json_maps(const struct map_list *maps)
{
	struct maps_row row;
	json_t *json = NULL;
	size_t i;

	if (!maps)
		return json_null();
	row = (struct maps_row){ maps->pid, maps->program,
				 calloc(maps->nr_lines + 1, sizeof(*row.rows)), maps->nr_lines };
	if (row.rows) {
		for (i = 0; i < maps->nr_lines; i++)
			row.rows[i] = (struct map_row){ maps->lines[i], &maps->lines[i], maps };
		json = fields_json(&process_maps_fields, &no_run, &row);
	}
	free(row.rows);
	return json;
}
