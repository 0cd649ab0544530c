// SPDX-License-Identifier: GPL-2.0-only
/*
 * The extras of a run in JSON: getrusage(2) compared with eBPF, hardware counters, simulated
 * caches, mappings, system calls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "print/json/json_extras.h"
#include "util/json_value.h"

/* Returns the reason as the table prints it, or null without a difference. */
static json_t *reason_of(const struct usage_line *line)
{
	int64_t difference;

	if (!rusage_check_difference(line, &difference) || !difference)
		return json_null();
	return value_text(line->reason ?: "unexplained");
}

static json_t *usage_of(const struct usage_line *line)
{
	int64_t difference;
	const bool known = rusage_check_difference(line, &difference);

	return json_pack("{so so so ss so}", "rusage", value_known(line->rusage), "ebpf",
			 value_known(line->ebpf), "difference",
			 known ? json_integer(difference) : json_null(), "source", line->source,
			 "reason", reason_of(line));
}

json_t *json_both_usages(const struct usage_line *lines)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < USAGE_NR; i++)
		object = value_with(object, lines[i].key, usage_of(&lines[i]));
	return object;
}

static json_t *usage_pair_of(const struct usage_line *line)
{
	return json_pack("{so so}", "rusage", value_known(line->rusage), "ebpf",
			 value_known(line->ebpf));
}

json_t *json_both_usages_figures(const struct usage_line *lines)
{
	const struct usage_line *line;
	json_t *object = json_object();

	for (line = lines; line < lines + USAGE_NR; line++)
		object = value_with(object, line->key, usage_pair_of(line));
	return object;
}

static json_t *syscall_total_of(const struct report *run, const struct syscall_total *total,
				uint64_t all_ns)
{
	char *name = view_syscall_name(run, total->number);
	json_t *text = value_text(name);

	free(name);
	return json_pack("{so so so so so so}", "name", text, "number",
			 value_count(view_syscall_index(total->number)), "calls",
			 value_count(total->calls), "errors", value_count(total->errors),
			 "total_ns", value_count(total->total_ns), "percent",
			 value_real(100 * view_share(total->total_ns, all_ns)));
}

json_t *json_syscall_totals(const struct report *run)
{
	const struct report_extras *extras = &run->extras;
	const struct syscall_total sum = syscall_totals_sum(extras->syscalls, extras->nr_syscalls);
	json_t *array;
	size_t i;

	if (!run->bpf.have_counts)
		return json_null();
	array = json_array();
	for (i = 0; i < extras->nr_syscalls; i++)
		array = value_appended(array,
				       syscall_total_of(run, &extras->syscalls[i], sum.total_ns));
	return array;
}

static json_t *hw_count_of(const struct hw_count *count)
{
	const bool known = !count->missing[0];

	return json_pack("{so so so so so}", "count", value_count_if(known, count->value), "raw",
			 value_count_if(known, count->raw), "enabled_ns",
			 value_count_if(known, count->enabled_ns), "running_ns",
			 value_count_if(known, count->running_ns), "missing",
			 value_text(count->missing));
}

static json_t *operation_of(const struct hw_counts *counts, enum hw_cache cache, enum hw_op op)
{
	const struct hw_count *group = counts->counts[cache][op];

	return json_pack("{so so so}", "accesses", hw_count_of(&group[HW_ACCESS]), "misses",
			 hw_count_of(&group[HW_MISS]), "miss_rate",
			 value_real(hw_counts_miss_rate(counts, cache, op)));
}

static json_t *operations_of(const struct hw_counts *counts, enum hw_cache cache)
{
	static const char *const names[] = HW_OP_NAMES;
	json_t *object = json_object();
	enum hw_op op;

	for (op = 0; op < HW_NR_OPS; op++)
		object = value_with(object, names[op], operation_of(counts, cache, op));
	return object;
}

json_t *json_counters(const struct hw_counts *counts)
{
	if (!counts)
		return json_null();
	return json_pack("{so so so so}", "l1d_bytes",
			 value_count_if(counts->l1d_bytes, counts->l1d_bytes), "walked_bytes",
			 value_count(counts->walked_bytes), "l1d", operations_of(counts, HW_L1D),
			 "dtlb", operations_of(counts, HW_DTLB));
}

static json_t *hw_figures_of(const struct hw_counts *counts, enum hw_cache cache, enum hw_op op)
{
	const struct hw_count *group = counts->counts[cache][op];

	return json_pack("{so so so}", "accesses",
			 value_count_if(!group[HW_ACCESS].missing[0], group[HW_ACCESS].value),
			 "misses", value_count_if(!group[HW_MISS].missing[0], group[HW_MISS].value),
			 "miss_rate", value_real(hw_counts_miss_rate(counts, cache, op)));
}

json_t *json_counter_figures(const struct hw_counts *counts)
{
	static const char *const caches[] = { "l1d", "dtlb" };
	static const char *const ops[] = HW_OP_NAMES;
	json_t *object, *of_cache;
	enum hw_cache cache;
	enum hw_op op;

	if (!counts)
		return json_null();
	object = json_object();
	for (cache = 0; cache < HW_NR_CACHES; cache++) {
		of_cache = json_object();
		for (op = 0; op < HW_NR_OPS; op++)
			of_cache = value_with(of_cache, ops[op], hw_figures_of(counts, cache, op));
		object = value_with(object, caches[cache], of_cache);
	}
	return object;
}

static json_t *level_of(const struct cache_geometry *level)
{
	return json_pack("{ss so so so}", "name", level->name, "bytes", value_count(level->bytes),
			 "ways", value_count(level->ways), "line_bytes", value_count(level->line));
}

static json_t *geometry_of(void)
{
	static const struct cache_geometry levels[] = CACHE_SIMULATION_GEOMETRY;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < CACHE_SIMULATION_LEVELS; i++)
		array = value_appended(array, level_of(&levels[i]));
	return array;
}

static json_t *access_of(const int64_t *events, enum cachegrind_event refs,
			 enum cachegrind_event d1, enum cachegrind_event ll)
{
	return json_pack("{so so so}", "references", json_integer(events[refs]), "d1_misses",
			 json_integer(events[d1]), "ll_misses", json_integer(events[ll]));
}

static json_t *read_of(const int64_t *events)
{
	return access_of(events, CACHEGRIND_DR, CACHEGRIND_D1MR, CACHEGRIND_DLMR);
}

static json_t *write_of(const int64_t *events)
{
	return access_of(events, CACHEGRIND_DW, CACHEGRIND_D1MW, CACHEGRIND_DLMW);
}

static json_t *function_of(const struct cachegrind_function *function)
{
	return json_pack("{so so so}", "name", value_text(function->name), "read",
			 read_of(function->events), "write", write_of(function->events));
}

static json_t *functions_of(const struct cachegrind *loop)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < loop->nr; i++)
		array = value_appended(array, function_of(&loop->functions[i]));
	return array;
}

json_t *json_simulation(const struct cache_simulation *simulation)
{
	if (!simulation)
		return json_null();
	return json_pack("{so so so so so}", "simulator",
			 json_sprintf("%s, cachegrind", simulation->version), "caches",
			 geometry_of(), "read", read_of(simulation->loop.summary), "write",
			 write_of(simulation->loop.summary), "functions",
			 functions_of(&simulation->loop));
}

static json_t *protection_of(const struct map_line *line)
{
	const char rights[] = { line->prot & PROT_READ ? 'r' : '-',
				line->prot & PROT_WRITE ? 'w' : '-',
				line->prot & PROT_EXEC ? 'x' : '-', line->shared ? 's' : 'p',
				'\0' };

	return json_string(rights);
}

static json_t *explanation_of(const struct map_line *line, const struct map_list *maps)
{
	char text[4352];

	map_line_explain(line, maps, text, sizeof(text));
	return value_text(text);
}

static json_t *map_advice_of(const struct map_line *line)
{
	static const char *const advices[] = MAPPING_ADVICE_NAMES;

	return line->advice_known ? json_string(advices[line->advice]) : json_null();
}

static json_t *line_of(const struct map_line *line, const struct map_list *maps)
{
	const struct value_member members[] = {
		{ "address", value_wide(line->start) },
		{ "bytes", value_count(line->end - line->start) },
		{ "rights", protection_of(line) },
		{ "offset", value_wide(line->offset) },
		{ "inode", line->inode ? value_wide(line->inode) : json_null() },
		{ "dev", value_count_if(line->inode, line->dev) },
		{ "path", value_text(line->path) },
		{ "kind", json_string(map_kind_name(line->kind)) },
		{ "explanation", explanation_of(line, maps) },
		{ "tid", value_count_if(line->thread, line->thread) },
		{ "resident_bytes", value_known(line->resident) },
		{ "pss_bytes", value_known(line->pss) },
		{ "dirty_bytes", value_known(line->dirty) },
		{ "anonymous_bytes", value_known(line->anonymous) },
		{ "swapped_bytes", value_known(line->swapped) },
		{ "hooked", maps->hooks_known ? json_boolean(line->hooked) : json_null() },
		{ "advice", map_advice_of(line) },
		{ "readahead_bytes", value_known(map_line_ra_bytes(line)) },
		{ "mmap_miss", value_known(line->mmap_miss) },
		{ NULL, NULL },
	};

	return value_object(members);
}

static json_t *lines_of(const struct map_list *maps)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < maps->nr_lines; i++)
		array = value_appended(array, line_of(&maps->lines[i], maps));
	return array;
}

json_t *json_maps(const struct map_list *maps)
{
	if (!maps)
		return json_null();
	return json_pack("{so so so}", "pid", value_count(maps->pid), "program",
			 value_text(maps->program), "maps", lines_of(maps));
}
