// SPDX-License-Identifier: GPL-2.0-only
/* The shape is Documentation/pfdrive.schema.json's ($defs/bench); a unit test compares them. */
#include <math.h>

#include "bench/print/bench_print.h"
#include "util/json_value.h"

/* As the other JSON has it: three decimals, NAN is null. */
static json_t *real_of(double value)
{
	return isfinite(value) ? json_real(round(value * 1000) / 1000) : json_null();
}

static json_t *real_if(bool known, double value)
{
	return known ? real_of(value) : json_null();
}

static json_t *size_of(uint64_t bytes)
{
	return value_count_if(bytes, bytes);
}

static json_t *machine_of(const struct bench_results *results)
{
	const struct environment *environment = &results->state.environment;
	const struct machine_state *state = &results->state;
	const struct bench_machine *machine = &results->machine;

	return json_pack("{so so so so so so so so so so so so so so so so so so}",
		"model", value_text(environment->machine),
		"kernel", value_text(environment->kernel),
		"virtualization", value_text(environment->virtualization),
		"clocksource", value_text(environment->clocksource),
		"cpus", value_count_if(environment->cpus, environment->cpus),
		"memory_bytes", size_of(environment->memory_bytes),
		"cpu", value_count(machine->cpu),
		"cpus_allowed", value_count(machine->nr_cpus),
		"cycle_ns", isnan(machine->cycle_ns) ? json_null() : json_real(machine->cycle_ns),
		"tsc_invariant", json_boolean(state->tsc_invariant),
		"governor", value_text(state->governor),
		"turbo", value_text(state->turbo),
		"frequency_khz", size_of(state->frequency_khz),
		"load", real_of(state->load),
		"l1_bytes", size_of(machine->cache_bytes[0]),
		"l2_bytes", size_of(machine->cache_bytes[1]),
		"l3_bytes", size_of(machine->cache_bytes[2]),
		"line_bytes", size_of(machine->line_bytes));
}

static json_t *place_of(const struct place_facts *facts)
{
	if (!facts->directory)
		return json_null();
	return json_pack("{so so so so}",
		"directory", value_text(facts->directory),
		"filesystem", value_text(facts->filesystem),
		"device", value_text(facts->device),
		"no_direct", value_text(facts->no_direct));
}

static json_t *peer_of(const struct bench_options *options)
{
	if (!options->peer)
		return json_null();
	return json_pack("{so so}", "host", value_text(options->peer),
			 "port", value_text(options->port));
}

static json_t *figure_of(const struct bench_figure *figure)
{
	return json_pack("{so so so so}",
		"value", real_of(figure->value),
		"formula", value_text(figure->formula),
		"given", json_boolean(figure->given),
		"missing", value_text(figure->why));
}

static json_t *counts_of(const struct bench_counts *counts)
{
	return json_pack("{so so so so}",
		"switches", value_fact(counts->event[BENCH_SWITCHES]),
		"syscalls", value_fact(counts->event[BENCH_SYSCALLS]),
		"faults", value_fact(counts->event[BENCH_FAULTS]),
		"major", value_fact(counts->event[BENCH_MAJOR]));
}

static json_t *measured_of(const struct bench_row *row)
{
	const struct statistics *figures = &row->figures;
	const bool repeated = !row->operation->derived;

	if (!bench_row_measured(row))
		return json_null();
	return json_pack("{so so so so so so so so so so so so}",
		"mean", real_of(figures->mean),
		"half_width_95", real_of(row->half_width),
		"stddev", real_of(figures->stddev),
		"median", real_of(figures->median),
		"min", real_of(figures->min),
		"max", real_of(figures->max),
		"cycles", real_of(row->cycles),
		"subtracted_ns", real_of(row->subtracted_ns),
		"runs", value_count_if(repeated, figures->runs),
		"outliers", value_count_if(repeated, figures->outliers),
		"operations", value_count_if(repeated, row->all_operations),
		"rusage", repeated ? counts_of(&row->usage) : json_null());
}

static json_t *watched_of(const struct bench_row *row)
{
	const struct bench_seen *seen = &row->seen;
	const bool kernel = seen->kernel_source;

	if (!seen->operations || seen->missing[0])
		return json_null();
	return json_pack("{so so so so so so so so}",
		"operations", value_count(seen->operations),
		"counts", counts_of(&seen->counts),
		"lost", value_count(seen->lost),
		"ns", real_of(seen->watched_ns),
		"kernel_source", value_text(seen->kernel_source),
		"kernel_faults", value_count_if(kernel, seen->kernel_faults),
		"kernel_ns", real_if(kernel, seen->kernel_ns),
		"mmap_lock_share", real_if(kernel, seen->mmap_lock_share));
}

static json_t *row_of(const struct bench_row *row)
{
	return json_pack("{ss so ss ss so so so so so so so so}",
		"operation", row->operation->name,
		"point", value_text(row->point_name),
		"name", row->name,
		"unit", bench_unit_name(row->operation->unit),
		"method", value_text(row->operation->method),
		"hardware", figure_of(&row->hardware),
		"predicted", figure_of(&row->predicted),
		"measured", measured_of(row),
		"missing", value_text(row->missing),
		"watched", watched_of(row),
		"noise", value_text(row->noise),
		"contradiction", value_text(row->contradiction));
}

static json_t *results_of(const struct bench_results *results)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < results->nr; i++)
		rows = value_appended(rows, row_of(&results->rows[i]));
	return json_pack("{so so so so so so so}",
		"quick", json_boolean(results->options.quick),
		"machine", machine_of(results),
		"files", place_of(&results->files),
		"nfs", place_of(&results->nfs),
		"peer", peer_of(&results->options),
		"not_watched", value_text(results->not_watched),
		"rows", rows);
}

int bench_print_json(FILE *out, const struct bench_results *results)
{
	return value_print(out, results_of(results));
}
