// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results as JSON. Documentation/formats/pfdrive.schema.in.json ($defs/bench) describes the
 * shape, and a unit test compares both.
 */
#include <math.h>

#include "bench/suite/print/bench_print.h"
#include "util/json_value.h"

/* Three decimals, and null for NAN, as in every pfdrive JSON. */
static json_t *bench_json_real(double value)
{
	return isfinite(value) ? json_real(round(value * 1000) / 1000) : json_null();
}

static json_t *bench_json_real_if(bool known, double value)
{
	return known ? bench_json_real(value) : json_null();
}

static json_t *bench_json_size(uint64_t bytes)
{
	return value_count_if(bytes, bytes);
}

static json_t *bench_json_machine(const struct bench_results *results)
{
	const struct environment *environment = &results->state.environment;
	const struct bench_machine_state *state = &results->state;
	const struct bench_machine *machine = &results->machine;

	return json_pack("{so so so so so so so so so so so so so so so so so so}", "model",
			 value_text(environment->machine), "kernel",
			 value_text(environment->kernel), "virtualization",
			 value_text(environment->virtualization), "clocksource",
			 value_text(environment->clocksource), "cpus",
			 value_count_if(environment->cpus, environment->cpus), "memory_bytes",
			 bench_json_size(environment->memory_bytes), "cpu",
			 value_count(machine->cpu), "cpus_allowed", value_count(machine->nr_cpus),
			 "cycle_ns",
			 isnan(machine->cycle_ns) ? json_null() : json_real(machine->cycle_ns),
			 "tsc_invariant", json_boolean(state->tsc_invariant), "governor",
			 value_text(state->governor), "turbo", value_text(state->turbo),
			 "frequency_khz", bench_json_size(state->frequency_khz), "load",
			 bench_json_real(state->load), "l1_bytes",
			 bench_json_size(machine->cache_bytes[0]), "l2_bytes",
			 bench_json_size(machine->cache_bytes[1]), "l3_bytes",
			 bench_json_size(machine->cache_bytes[2]), "line_bytes",
			 bench_json_size(machine->line_bytes));
}

static json_t *bench_json_folder(const struct bench_folder *facts)
{
	if (!facts->directory)
		return json_null();
	return json_pack("{so so so so}", "directory", value_text(facts->directory), "filesystem",
			 value_text(facts->filesystem), "device", value_text(facts->device),
			 "no_direct", value_text(facts->no_direct.text));
}

static json_t *bench_json_peer(const struct bench_options *options)
{
	if (!options->peer)
		return json_null();
	return json_pack("{so so}", "host", value_text(options->peer), "port",
			 value_text(options->port));
}

static json_t *bench_json_figure(const struct bench_figure *figure)
{
	return json_pack("{so so so so}", "value", bench_json_real(figure->value), "formula",
			 value_text(figure->formula), "given", json_boolean(figure->given),
			 "missing", value_text(figure->why.text));
}

static json_t *bench_json_counts(const struct bench_counts *counts)
{
	return json_pack("{so so so so}", "switches", value_known(counts->event[BENCH_SWITCHES]),
			 "syscalls", value_known(counts->event[BENCH_SYSCALLS]), "faults",
			 value_known(counts->event[BENCH_FAULTS]), "major",
			 value_known(counts->event[BENCH_MAJOR]));
}

static json_t *bench_json_measured(const struct bench_row *row)
{
	const struct statistics *figures = &row->figures;
	const bool repeated = bench_row_repeated(row);

	if (!bench_row_measured(row))
		return json_null();
	return json_pack("{so so so so so so so so so so so so}", "mean",
			 bench_json_real(figures->mean), "half_width_95",
			 bench_json_real(row->half_width), "stddev",
			 bench_json_real(figures->stddev), "median",
			 bench_json_real(figures->median), "min", bench_json_real(figures->min),
			 "max", bench_json_real(figures->max), "cycles",
			 bench_json_real(row->cycles), "subtracted_ns",
			 bench_json_real(row->subtracted_ns), "runs",
			 value_count_if(repeated, figures->runs), "outliers",
			 value_count_if(repeated, figures->outliers), "operations",
			 value_count_if(repeated, row->all_operations), "rusage",
			 repeated ? bench_json_counts(&row->usage) : json_null());
}

static json_t *bench_json_watched(const struct bench_row *row)
{
	const struct bench_seen *seen = &row->seen;
	const bool kernel = seen->kernel_source;

	if (!bench_row_watched(row))
		return json_null();
	return json_pack("{so so so so so so so so}", "operations", value_count(seen->operations),
			 "counts", bench_json_counts(&seen->counts), "lost",
			 value_count(seen->lost), "ns", bench_json_real(seen->watched_ns),
			 "kernel_source", value_text(seen->kernel_source), "kernel_faults",
			 value_count_if(kernel, seen->kernel_faults), "kernel_ns",
			 bench_json_real_if(kernel, seen->kernel_ns), "mmap_lock_share",
			 bench_json_real_if(kernel, seen->mmap_lock_share));
}

static json_t *bench_json_row(const struct bench_row *row)
{
	return json_pack("{ss so ss ss so so so so so so so so}", "operation", row->operation->name,
			 "point", value_text(row->point_name), "name", row->name, "unit",
			 bench_unit_name(row->operation->unit), "method",
			 value_text(row->operation->method), "hardware",
			 bench_json_figure(&row->hardware), "predicted",
			 bench_json_figure(&row->predicted), "measured", bench_json_measured(row),
			 "missing", value_text(row->missing.text), "watched",
			 bench_json_watched(row), "noise", value_text(row->noise.text),
			 "contradiction", value_text(row->contradiction.text));
}

static json_t *bench_json_results(const struct bench_results *results)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < results->nr; i++)
		rows = value_appended(rows, bench_json_row(&results->rows[i]));
	return json_pack("{so so so so so so so}", "quick", json_boolean(results->options.quick),
			 "machine", bench_json_machine(results), "files",
			 bench_json_folder(&results->files), "nfs",
			 bench_json_folder(&results->nfs), "peer",
			 bench_json_peer(&results->options), "not_watched",
			 value_text(results->not_watched.text), "rows", rows);
}

int bench_json_print(FILE *out, const struct bench_results *results)
{
	return value_print(out, bench_json_results(results));
}
