// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figure for memory.latency: load time over memory size, one line per stride. Reads
 * bench_results and fills a drawing. hwloc's cache sizes are vertical lines.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/suite/fig_memory.h"
#include "figures/drawing.h"
#include "util/text.h"

#define OPERATION    "memory.latency"
#define MOST_STRIDES 8

struct fig_memory_point {
	uint64_t bytes, stride;
	double ns;
};

/* Parses the name SIZE:STRIDE. False: another operation, or a row that was not measured. */
static bool fig_memory_parse_point(const struct bench_row *row, struct fig_memory_point *point)
{
	const char *colon = strchr(row->point_name, ':');
	char size[32];

	if (strcmp(row->operation->name, OPERATION) || !colon || !bench_row_measured(row))
		return false;
	snprintf(size, sizeof(size), "%.*s", (int)(colon - row->point_name), row->point_name);
	point->ns = row->figures.mean;
	return !size_parse(size, &point->bytes) && !size_parse(colon + 1, &point->stride);
}

static unsigned int fig_memory_strides(const struct bench_results *results,
				       uint64_t strides[MOST_STRIDES])
{
	unsigned int nr = 0, i;
	struct fig_memory_point point;
	size_t row;

	for (row = 0; row < results->nr; row++) {
		if (!fig_memory_parse_point(&results->rows[row], &point))
			continue;
		for (i = 0; i < nr && strides[i] != point.stride; i++)
			;
		if (i == nr && nr < MOST_STRIDES)
			strides[nr++] = point.stride;
	}
	return nr;
}

static size_t fig_memory_write_data(struct drawing *drawing, const struct bench_results *results)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	struct fig_memory_point point;
	size_t i, nr = 0;

	fputs("stride_bytes,size_bytes,ns,half_width_ns,noisy\n", csv);
	for (i = 0; i < results->nr; i++) {
		if (!fig_memory_parse_point(&results->rows[i], &point))
			continue;
		fprintf(csv, "%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%d\n", point.stride, point.bytes,
			point.ns, results->rows[i].half_width,
			results->rows[i].noise.text[0] != '\0');
		nr++;
	}
	return nr;
}

static void fig_memory_write_caches(FILE *script, const struct bench_machine *machine)
{
	static const char *const names[] = { "L1d", "L2", "L3" };
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (machine->cache_bytes[i])
			fprintf(script,
				"set arrow from %" PRIu64 ",graph 0 to %" PRIu64 ",graph 1 nohead "
				"dt (4,4) lc rgb '#%06x'\nset label '%s' at "
				"%" PRIu64 ",graph 0.97 right "
				"offset -0.3,0\n",
				machine->cache_bytes[i], machine->cache_bytes[i], COLOUR_GREY,
				names[i], machine->cache_bytes[i]);
}

static void fig_memory_write_script(struct drawing *drawing, const struct bench_results *results)
{
	static const struct {
		uint32_t rgb;
		unsigned int point;
	} looks[MOST_STRIDES] = {
		{ COLOUR_BLACK, 7 },  { COLOUR_BLUE, 5 },    { COLOUR_VERMILLION, 9 },
		{ COLOUR_GREEN, 13 }, { COLOUR_ORANGE, 11 }, { COLOUR_PURPLE, 15 },
		{ COLOUR_SKY, 4 },    { COLOUR_GREY, 6 },
	};
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	uint64_t strides[MOST_STRIDES];
	unsigned int nr = fig_memory_strides(results, strides), i;

	for (i = 0; i < nr; i++)
		drawing_key(drawing, "stride of 1000000000 bytes");
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("set xlabel 'memory size'\nset ylabel 'ns per load'\nset logscale x 2\n"
	      "set logscale y\nset format y '%g'\nset datafile missing NaN\n"
	      "set xtics ('4K' 4096, '16K' 16384, '64K' 65536, '256K' 262144, '1M' 1048576, "
	      "'4M' 4194304, '16M' 16777216, '64M' 67108864, '256M' 268435456, "
	      "'1G' 1073741824)\n",
	      script);
	fig_memory_write_caches(script, &results->machine);
	for (i = 0; i < nr; i++)
		fprintf(script,
			"%s'memory.csv' skip 1 using 2:($1 == %" PRIu64 " ? $3 : NaN) \\\n"
			"\twith linespoints pt %u ps 0.6 lw 1.5 lc rgb '#%06x' title 'stride "
			"%" PRIu64 " bytes'",
			i ? ", \\\n\t" : "plot ", strides[i], looks[i].point, looks[i].rgb,
			strides[i]);
	fputc('\n', script);
	drawing_script_end(drawing);
}

static void fig_memory_write_texts(struct drawing *drawing, const struct bench_results *results,
				   size_t nr)
{
	struct fig_memory_point point, least = { 0 }, most = { 0 };
	size_t i, missing = 0;

	for (i = 0; i < results->nr; i++) {
		missing += !strcmp(results->rows[i].operation->name, OPERATION) &&
			   !bench_row_measured(&results->rows[i]);
		if (!fig_memory_parse_point(&results->rows[i], &point))
			continue;
		if (!least.bytes || point.ns < least.ns)
			least = point;
		if (point.ns > most.ns)
			most = point;
	}
	drawing_say(drawing, DRAWING_READING,
		    "A load takes %.2f ns in %" PRIu64 " KiB and %.1f ns in %" PRIu64
		    " KiB with a stride of %" PRIu64 " bytes, %.0f times as long.",
		    least.ns, least.bytes / 1024, most.ns, most.bytes / 1024, most.stride,
		    most.ns / least.ns);
	drawing_say(drawing, DRAWING_AMOUNT, "%zu points.", nr);
	if (missing)
		drawing_say(drawing, DRAWING_AMOUNT, " %zu more could not be measured.", missing);
	drawing_say(drawing, DRAWING_ALT,
		    "One line per stride: the load time over the memory size, on "
		    "logarithmic axes, with the cache sizes.");
}

int fig_memory_draw(struct drawing *drawing, const struct bench_results *results)
{
	int err = drawing_begin(drawing, "memory", "Memory latency");
	size_t nr;

	if (err)
		return err;
	nr = fig_memory_write_data(drawing, results);
	if (nr) {
		fig_memory_write_texts(drawing, results, nr);
		fig_memory_write_script(drawing, results);
	} else {
		drawing_say(drawing, DRAWING_MISSING, "no " OPERATION " was measured");
	}
	return drawing_end(drawing);
}
