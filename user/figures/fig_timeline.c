// SPDX-License-Identifier: GPL-2.0-only
/* What each thread did over time: in faults, on the CPU or off it, and off it elsewhere. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../correlate/hash.h"
#include "figure.h"
#include "palette.h"

#define COLUMNS 120U
#define FIRST_SHIFT 10		/* a column begins as a microsecond */
#define MOST_THREADS 1024U	/* followed: 3 MiB */
#define MOST_LANES 12U		/* drawn */

enum state {
	STATE_FAULT,		/* in a fault; when drawn: on the CPU in it */
	STATE_FAULT_OFF,	/* off the CPU in it */
	STATE_OFF,		/* off the CPU; when drawn: not in a fault */
	NR_STATES
};

struct lane {
	uint32_t tid;
	char comm[16];
	uint64_t faults, fault_ns, off_ns;
	uint64_t fault_off_ns;	/* of fault_ns: also what no span tells of */
	uint64_t ns[NR_STATES][COLUMNS];
};

struct timeline {
	struct hash lanes;
	unsigned int shift;
	uint64_t origin_ns;
	uint64_t end;		/* since then */
	uint64_t not_followed;	/* faults of more threads */
	uint64_t stays;
};

static void *open_timeline(void)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (timeline)
		timeline->shift = FIRST_SHIFT;
	return timeline;
}

static void close_timeline(void *data)
{
	struct timeline *timeline = data;

	hash_exit(&timeline->lanes, free);
	free(timeline);
}

/* *found NULL: there are too many. */
static int lane_get(struct timeline *timeline, uint32_t tid, struct lane **found)
{
	struct lane *lane = hash_find(&timeline->lanes, tid);

	*found = lane;
	if (lane || timeline->lanes.count == MOST_THREADS)
		return 0;
	lane = calloc(1, sizeof(*lane));
	if (!lane || hash_add(&timeline->lanes, tid, lane)) {
		free(lane);
		return -ENOMEM;
	}
	lane->tid = tid;
	*found = lane;
	return 0;
}

static int fold(void *context, void *value)
{
	struct lane *lane = value;
	enum state state;
	unsigned int i;

	(void)context;
	for (state = 0; state < NR_STATES; state++)
		for (i = 0; i < COLUMNS; i++)
			lane->ns[state][i] = i >= COLUMNS / 2 ? 0 :
				lane->ns[state][2 * i] + lane->ns[state][2 * i + 1];
	return 0;
}

static uint64_t since(const struct timeline *timeline, uint64_t ns)
{
	return ns > timeline->origin_ns ? ns - timeline->origin_ns : 0;
}

/* Shares a stretch of time, or a part of it, out to the columns that it lies in. */
static void spread(struct timeline *timeline, struct lane *lane, enum state state,
		   uint64_t from_ns, uint64_t to_ns, double part)
{
	uint64_t from, to, end, column;

	if (!timeline->origin_ns)
		timeline->origin_ns = from_ns;
	from = since(timeline, from_ns);
	to = since(timeline, to_ns);
	if (to > timeline->end)
		timeline->end = to;
	while (to > (uint64_t)COLUMNS << timeline->shift) {
		hash_visit(&timeline->lanes, fold, NULL);
		timeline->shift++;
	}
	for (; from < to; from = end) {
		column = from >> timeline->shift;
		end = (column + 1) << timeline->shift;
		if (end > to)
			end = to;
		lane->ns[state][column] += (end - from) * part;
	}
}

/* Pieces that found no room lie behind the last that did: where, is not known. */
static void add_fault_off(struct timeline *timeline, struct lane *lane,
			  const struct explained *fault)
{
	const uint64_t off_ns = fault->end_ns - fault->start_ns -
		fault->parts_ns[PART_CPU_BEFORE] - fault->parts_ns[PART_CPU_AFTER];
	uint64_t left_ns = off_ns, at_ns = fault->start_ns;
	const struct explain_span *span;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		spread(timeline, lane, STATE_FAULT_OFF, span->from_ns, span->to_ns, 1);
		left_ns -= span->to_ns - span->from_ns;
		at_ns = span->to_ns;
	}
	if (left_ns)
		spread(timeline, lane, STATE_FAULT_OFF, at_ns, fault->end_ns,
		       (double)left_ns / (fault->end_ns - at_ns));
	lane->fault_off_ns += off_ns;
}

static int add_fault(void *data, const struct explained *fault)
{
	struct timeline *timeline = data;
	struct lane *lane;
	int err = lane_get(timeline, fault->tid, &lane);

	if (err || !lane) {
		timeline->not_followed++;
		return err;
	}
	lane->faults++;
	lane->fault_ns += fault->end_ns - fault->start_ns;
	spread(timeline, lane, STATE_FAULT, fault->start_ns, fault->end_ns, 1);
	add_fault_off(timeline, lane, fault);
	return 0;
}

static int add_stay(struct timeline *timeline, const struct pfstat_off_cpu *stay)
{
	struct lane *lane;
	int err = lane_get(timeline, stay->event.tid, &lane);

	if (err || !lane)
		return err;
	timeline->stays++;
	lane->off_ns += stay->event.ns - stay->off_ns;
	spread(timeline, lane, STATE_OFF, stay->off_ns, stay->event.ns, 1);
	return 0;
}

static int add_item(void *data, const struct item *item)
{
	struct timeline *timeline = data;
	const struct pfstat_task *task;
	struct lane *lane;
	int err;

	if (item->type != ITEM_EVENT)
		return 0;
	if (item->event->type == PFSTAT_EVENT_OFF_CPU)
		return add_stay(timeline, (const struct pfstat_off_cpu *)item->event);
	if (item->event->type != PFSTAT_EVENT_TASK)
		return 0;
	task = (const struct pfstat_task *)item->event;
	err = lane_get(timeline, task->event.tid, &lane);
	if (!err && lane && !(task->event.flags & PFSTAT_TASK_EXIT))
		snprintf(lane->comm, sizeof(lane->comm), "%.15s", task->comm);
	return err;
}

struct lanes {
	struct lane **all;
	size_t nr;
};

static int list_lane(void *context, void *value)
{
	struct lanes *lanes = context;
	struct lane *lane = value;

	if (lane->faults || lane->off_ns)
		lanes->all[lanes->nr++] = lane;
	return 0;
}

/* Those who spent most time in faults first. */
static int by_time(const void *a, const void *b)
{
	const struct lane *left = *(struct lane *const *)a, *right = *(struct lane *const *)b;

	if (left->fault_ns != right->fault_ns)
		return left->fault_ns < right->fault_ns ? 1 : -1;
	return left->tid < right->tid ? -1 : 1;
}

static const char *const state_names[NR_STATES] = {
	"in a fault, on the CPU", "in a fault, off the CPU", "off the CPU elsewhere"
};

static void name_lane(const struct lane *lane, char *name, size_t size)
{
	if (lane->comm[0])
		snprintf(name, size, "%s (%" PRIu32 ")", lane->comm, lane->tid);
	else
		snprintf(name, size, "thread %" PRIu32, lane->tid);
}

/* What is drawn: three states that do not overlap. */
static uint64_t drawn_ns(const struct lane *lane, unsigned int column, enum state state,
			 uint64_t width)
{
	const uint64_t fault = lane->ns[STATE_FAULT][column], off = lane->ns[STATE_OFF][column];
	const uint64_t both = lane->ns[STATE_FAULT_OFF][column];
	const uint64_t rest = off > both ? off - both : 0;
	const uint64_t outside = width > fault ? width - fault : 0;

	switch (state) {
	case STATE_FAULT:
		return fault > both ? fault - both : 0;
	case STATE_FAULT_OFF:
		return both;
	default:
		/* A piece whose place is not known may have been shared out elsewhere. */
		return rest < outside ? rest : outside;
	}
}

static void write_lane(FILE *csv, const struct timeline *timeline, const struct lane *lane,
		       size_t row)
{
	const uint64_t width_ns = 1ULL << timeline->shift;
	const double width = width_ns;
	unsigned int column;
	enum state state;
	char name[48];
	double from, share;

	name_lane(lane, name, sizeof(name));
	for (column = 0; column < COLUMNS; column++) {
		for (state = 0, from = 0; state < NR_STATES; state++, from += share) {
			share = 100 * drawn_ns(lane, column, state, width_ns) / width;
			if (share < 0.05)
				continue;
			fprintf(csv, "%zu,", row);
			drawing_cell(csv, name);
			fprintf(csv, ",%.6f,%.6f,%u,%.2f,%.2f\n", column * width / 1e6,
				(column + 1) * width / 1e6, (unsigned int)state, from,
				from + share > 100 ? 100 : from + share);
		}
	}
}

static void write_script(struct drawing *drawing, const struct lanes *lanes, size_t rows)
{
	static const uint32_t colours[NR_STATES] = {
		PALETTE_BLUE, PALETTE_BLACK, PALETTE_ORANGE
	};
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	enum state state;
	char name[48];
	size_t i;

	drawing_script_begin(drawing, 140 + 42 * rows);
	fprintf(script, "set xlabel 'time (ms)'\nset xrange [0:*] noextend\nset format x '%%.6g'\n"
		"set yrange [0.4:%zu.6]\nunset grid\nset ytics scale 0 (", rows);
	for (i = 0; i < rows; i++) {
		name_lane(lanes->all[i], name, sizeof(name));
		fputs(i ? ", " : "", script);
		drawing_label(script, name);
		fprintf(script, " %zu", rows - i);
	}
	fputs(")\n", script);
	for (state = 0; state < NR_STATES; state++)
		fprintf(script, "%s'timeline.csv' skip 1 using ($3+$4)/2:($5 == %u ? $1 : NaN):3:4:"
			"($1-0.4+0.008*$6):($1-0.4+0.008*$7) \\\n"
			"\twith boxxyerror fc rgb '#%06x' title '%s'%s", state ? "\t" : "plot ",
			(unsigned int)state,
			colours[state], state_names[state],
			state + 1 < NR_STATES ? ", \\\n" : "\n");
	drawing_script_end(drawing);
}

static void say(struct drawing *drawing, const struct timeline *timeline, const struct lanes *lanes)
{
	const struct lane *most = lanes->all[0];
	uint64_t faults = 0, left_out = timeline->not_followed;
	char name[48];
	size_t i;

	for (i = 0; i < lanes->nr; i++) {
		faults += lanes->all[i]->faults;
		left_out += i >= MOST_LANES ? lanes->all[i]->faults : 0;
	}
	name_lane(most, name, sizeof(name));
	drawing_say(drawing, DRAWING_READING, "%s was in faults for %.1f ms of %.1f ms, %.1f ms of "
		    "it off the CPU", name, most->fault_ns / 1e6, timeline->end / 1e6,
		    most->fault_off_ns / 1e6);
	if (most->off_ns > most->fault_off_ns)
		drawing_say(drawing, DRAWING_READING, ", and off the CPU elsewhere for %.1f ms",
			    (most->off_ns - most->fault_off_ns) / 1e6);
	drawing_say(drawing, DRAWING_READING, ".");
	drawing_say(drawing, DRAWING_AMOUNT, "%" PRIu64 " logical faults and %" PRIu64 " stays off "
		    "the CPU of %zu thread%s, added up in columns of %.3g ms.", faults,
		    timeline->stays, lanes->nr, PLURAL(lanes->nr),
		    (double)(1ULL << timeline->shift) / 1e6);
	if (left_out)
		drawing_say(drawing, DRAWING_AMOUNT, " %" PRIu64 " faults of other threads are not "
			    "in it.", left_out);
	drawing_say(drawing, DRAWING_ALT,
		    "A lane a thread over time: how much of each moment it was "
		    "in faults, on and off the CPU, and off the CPU elsewhere.");
}

static int draw(void *data, const struct figure_source *source, struct drawing *drawing)
{
	struct timeline *timeline = data;
	struct lanes lanes = {
		.all = calloc(timeline->lanes.count + 1, sizeof(struct lane *)),
	};
	size_t i, rows;

	if (!lanes.all)
		return -ENOMEM;
	hash_visit(&timeline->lanes, list_lane, &lanes);
	qsort(lanes.all, lanes.nr, sizeof(*lanes.all), by_time);
	if (!lanes.nr) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
	} else {
		rows = lanes.nr < MOST_LANES ? lanes.nr : MOST_LANES;
		fputs("row,thread,from_ms,to_ms,state,from_percent,to_percent\n",
		      drawing->streams[DRAWING_CSV]);
		for (i = 0; i < rows; i++)
			write_lane(drawing->streams[DRAWING_CSV], timeline, lanes.all[i], rows - i);
		say(drawing, timeline, &lanes);
		if (!source->report->have_bpf)
			drawing_say(drawing, DRAWING_AMOUNT,
				    " Stays off the CPU are not known: there "
				    "was no eBPF.");
		write_script(drawing, &lanes, rows);
	}
	free(lanes.all);
	return 0;
}

const struct figure figure_timeline = {
	.name = "timeline",
	.title = "What each thread did",
	.open = open_timeline,
	.close = close_timeline,
	.item = add_item,
	.fault = add_fault,
	.draw = draw,
};
