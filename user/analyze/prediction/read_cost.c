// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two straight lines over the pages that a fault reads, fitted to recorded faults: one for major
 * faults, which wait for the read, and one for faults that met a mark, which only submit it. The
 * distance between the lines is the time that a submitted read stays in flight.
 */
#include <math.h>

#include "analyze/prediction/prediction.h"
#include "util/array.h"

/* A page that a fault maps beside the faulting one costs this part of a minor fault. */
#define MAPPED_SHARE 8

#define STANDARD_ERRORS 2
#define FEWEST_FAULTS	10

void cost_line_add(struct cost_line *line, double pages, double ns)
{
	const double x = pages - line->mean_pages, y = ns - line->mean_ns;

	line->nr++;
	line->mean_pages += x / line->nr;
	line->mean_ns += y / line->nr;
	line->xx += x * (pages - line->mean_pages);
	line->xy += x * (ns - line->mean_ns);
	line->yy += y * (ns - line->mean_ns);
}

static bool has_slope(const struct cost_line *line)
{
	return line->nr >= FEWEST_FAULTS && line->xx > 0;
}

static double line_at(const struct cost_line *line, double pages)
{
	return fmax(0, line->mean_ns + line->xy / line->xx * (pages - line->mean_pages));
}

double cost_line_error(const struct cost_line *line, double faults, double pages)
{
	const double apart = pages - faults * line->mean_pages;
	double variance, spread;

	if (!faults || !has_slope(line))
		return 0;
	variance = fmax(0, line->yy - line->xy * line->xy / line->xx) / (line->nr - 2);
	spread = faults + faults * faults / line->nr + apart * apart / line->xx;
	return STANDARD_ERRORS * sqrt(variance * spread);
}

static double others_ns(const struct read_cost *cost, uint64_t pages)
{
	return pages > 1 ? cost->minor_ns / MAPPED_SHARE * (pages - 1) : 0;
}

bool read_cost_is_range(const struct read_cost *cost)
{
	return !has_slope(&cost->major) || !cost->submit.nr;
}

/* Without sizes to fit a line to: a fault that reads no page costs as much as a minor fault. */
static double submit_ns(const struct read_cost *cost, double pages, bool slow)
{
	const struct cost_line *line = &cost->submit;

	if (has_slope(line))
		return line_at(line, pages);
	if (line->nr)
		return cost->minor_ns +
		       fmax(0, line->mean_ns - cost->minor_ns) * pages / line->mean_pages;
	return slow ? fmax(cost->minor_ns, cost->major.mean_ns) : cost->minor_ns;
}

/*
 * Without sizes to fit a line to, the wait may be the same for all sizes, or be proportional to the
 * size. With few faults it may even be 0, or twice as long.
 */
static double wait_ns(const struct read_cost *cost, double pages, bool slow)
{
	const struct cost_line *line = &cost->major;
	const double wait = fmax(0, line->mean_ns - submit_ns(cost, line->mean_pages, false));
	const double part = pages / fmax(1, line->mean_pages);

	if (line->nr < FEWEST_FAULTS)
		return slow ? 2 * wait * fmax(1, part) : 0;
	return wait * (slow ? fmax(1, part) : fmin(1, part));
}

double read_cost_major(const struct read_cost *cost, double pages, bool slow)
{
	if (has_slope(&cost->major))
		return line_at(&cost->major, pages);
	return submit_ns(cost, pages, false) + wait_ns(cost, pages, slow);
}

double read_clock_rest(const struct read_clock *clock, const struct cached_file *file,
		       uint64_t page)
{
	const struct read_flight *flight;
	double rest = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clock->flights); i++) {
		flight = &clock->flights[i];
		if (flight->file == file && page - flight->first < flight->pages)
			rest = fmax(rest, flight->ready_ns - clock->now_ns);
	}
	return rest;
}

static void read_clock_submit(struct read_clock *clock, const struct fault_work *work,
			      double ready_ns)
{
	if (work->read_pages)
		clock->flights[clock->nr_flights++ % ARRAY_SIZE(clock->flights)] =
			(struct read_flight){ .file = work->file,
					      .first = work->first,
					      .pages = work->window,
					      .ready_ns = ready_ns };
}

static void learn_minor(struct read_cost *cost, const struct fault_work *work, double ns)
{
	const double others = work->mapped_pages > 1 ? work->mapped_pages - 1 : 0;

	cost->minor_sum_ns += ns;
	cost->minor_weight += 1 + others / MAPPED_SHARE;
	cost->minor_ns = cost->minor_sum_ns / cost->minor_weight;
}

static void learn_gap(struct read_cost *cost, struct read_clock *clock,
		      const struct access_time *time)
{
	const double gap = (double)time->start_ns - clock->last_end_ns;

	if (clock->last_end_ns && gap >= 0 && (!cost->nr_gaps++ || gap < cost->overhead_ns))
		cost->overhead_ns = gap;
	clock->last_end_ns = time->start_ns + time->ns;
	clock->now_ns = time->start_ns;
}

/* A wait without a read of its own is known from the CPU time only: without that, it is left out. */
void read_cost_learn(struct read_cost *cost, struct read_clock *clock,
		     const struct fault_work *work, const struct access_time *time)
{
	const bool cpu_known = time->cpu_ns != ACCESS_NS_UNKNOWN;
	const double others = others_ns(cost, work->mapped_pages);
	const double cpu_ns = cpu_known ? time->cpu_ns : time->ns;

	learn_gap(cost, clock, time);
	cost->total_ns += time->ns;
	cost->expected_major += work->class == FAULT_DISK;
	if (work->class == FAULT_DISK && time->major) {
		cost->learned_major++;
		cost_line_add(&cost->major, work->read_pages, time->ns - others);
		if (cpu_known)
			cost_line_add(&cost->submit, work->read_pages, cpu_ns - others);
	} else if (!time->major && (cpu_known || !read_clock_rest(clock, work->file, work->page))) {
		if (work->class == FAULT_READAHEAD)
			cost_line_add(&cost->submit, work->read_pages, cpu_ns - others);
		else if (work->class == FAULT_LONG)
			learn_minor(cost, work, cpu_ns);
	}
	if (work->class == FAULT_READAHEAD)
		read_clock_submit(clock, work,
				  clock->now_ns + read_cost_major(cost, work->read_pages, true));
}

void read_clock_pass(struct read_clock *clock, const struct read_cost *cost,
		     const struct access_time *time)
{
	const double gap = (double)time->start_ns - clock->last_end_ns - cost->overhead_ns;

	if (clock->last_end_ns)
		clock->now_ns += fmax(0, gap);
	clock->last_end_ns = time->start_ns + time->ns;
}

void read_clock_take(struct read_clock *clock, const struct read_cost *cost,
		     const struct fault_work *work)
{
	double ns = cost->minor_ns, whole_ns;

	if (work->class == FAULT_DISK) {
		ns = read_cost_major(cost, work->read_pages, clock->slow);
		clock->majors++;
		clock->major_pages += work->read_pages;
	} else if (work->class == FAULT_READAHEAD) {
		ns = submit_ns(cost, work->read_pages, clock->slow);
		whole_ns = read_cost_major(cost, work->read_pages, clock->slow);
		clock->submits++;
		clock->submit_pages += work->read_pages;
		read_clock_submit(clock, work, clock->now_ns + fmax(ns, whole_ns));
		ns = fmax(ns, read_clock_rest(clock, work->file, work->page));
	} else {
		ns += read_clock_rest(clock, work->file, work->page);
	}
	ns += others_ns(cost, work->mapped_pages);
	clock->total_ns += ns;
	clock->now_ns += ns + cost->overhead_ns;
}

double read_clock_error(const struct read_clock *clock, const struct read_cost *cost)
{
	return hypot(cost_line_error(&cost->major, clock->majors, clock->major_pages),
		     cost_line_error(&cost->submit, clock->submits, clock->submit_pages));
}
