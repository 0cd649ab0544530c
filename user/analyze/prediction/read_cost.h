/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of faults, from the times of recorded ones. A clock has the recorded program's own time
 * between faults, so that a fault waits for a page that is still in flight.
 */
#ifndef PFSTAT_USER_READ_COST_H
#define PFSTAT_USER_READ_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/fault_class.h"

struct cached_file;

/* As recorded. */
struct access_time {
	uint64_t start_ns, ns;
	uint64_t cpu_ns; /* on the CPU, or ACCESS_NS_UNKNOWN */
	bool major;
};

#define ACCESS_NS_UNKNOWN UINT64_MAX

/* What a fault does, by the model. FAULT_LONG: neither reads nor submits. */
struct fault_work {
	enum fault_class class;
	const struct cached_file *file;
	uint64_t page;
	uint64_t first, window; /* submitted behind a mark */
	uint64_t read_pages;	/* of these and others, not cached before */
	uint64_t mapped_pages;
};

/* Sums for a least-squares line of a fault's time over the pages it reads. All zero: empty. */
struct cost_line {
	double nr, mean_pages, mean_ns;
	double xx, xy, yy; /* squares and products of the distances from the means */
};

void cost_line_add(struct cost_line *line, double pages, double ns);
/* Two standard errors of the time of so many faults that read so many pages together. */
double cost_line_error(const struct cost_line *line, double faults, double pages);

struct read_cost {
	struct cost_line major, submit;
	double minor_ns; /* mean, of a fault that maps one page */
	double minor_sum_ns, minor_weight;
	double overhead_ns; /* the least time between two faults */
	uint64_t nr_gaps;   /* times between faults */
	double total_ns;    /* of the recorded faults */
	uint64_t expected_major, learned_major;
};

/* The recorded reads do not tell the time of other sizes, so that this is a range. */
bool read_cost_is_range(const struct read_cost *cost);
/* A major fault that reads so many pages. @slow: the upper end of the range. */
double read_cost_major(const struct read_cost *cost, double pages, bool slow);

struct read_flight {
	const struct cached_file *file;
	uint64_t first, pages;
	double ready_ns;
};

struct read_clock {
	double now_ns, total_ns;
	uint64_t last_end_ns; /* of the recorded fault before */
	struct read_flight flights[16];
	size_t nr_flights;
	bool slow; /* the upper end of a range */
	double majors, major_pages;
	double submits, submit_pages;
};

/* The program's own time since the last recorded fault passes. */
void read_clock_pass(struct read_clock *clock, const struct read_cost *cost,
		     const struct access_time *time);
/* The time until a page is read, 0 if it is not in flight. */
double read_clock_rest(const struct read_clock *clock, const struct cached_file *file,
		       uint64_t page);
/* A predicted fault. */
void read_clock_take(struct read_clock *clock, const struct read_cost *cost,
		     const struct fault_work *work);
/* Two standard errors of total_ns. */
double read_clock_error(const struct read_clock *clock, const struct read_cost *cost);

/* A recorded fault. The clock knows the reads in flight. */
void read_cost_learn(struct read_cost *cost, struct read_clock *clock,
		     const struct fault_work *work, const struct access_time *time);

#endif
