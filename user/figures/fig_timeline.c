// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws each thread's state over time: in faults on the CPU, in faults off the CPU, and off the CPU
 * elsewhere. Faults and off-CPU intervals come from the stream. The number of threads and columns
 * is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "figures/drawing.h"
#include "figures/figure.h"
#include "util/hash.h"

#define COLUMNS	     120U
#define FIRST_SHIFT  10		  /* initial column width: 2^10 ns */
#define MOST_THREADS 1024U	  /* threads followed: 3 MiB */
#define MOST_LANES   12U	  /* threads drawn */
#define ENDED	     (1ULL << 63) /* a bit in the key */

enum state {
	STATE_FAULT,	 /* in a fault; when drawn, only on the CPU */
	STATE_FAULT_OFF, /* off the CPU in a fault */
	STATE_OFF,	 /* off the CPU; when drawn, only outside faults */
	NR_STATES
};

struct lane {
	uint64_t number; /* the thread's serial number, from 1 */
	uint32_t tid;
	char comm[16];
	uint64_t faults, intervals; /* intervals: off-CPU */
	uint64_t fault_ns, off_ns;
	uint64_t fault_off_ns; /* off-CPU part of fault_ns, including time without spans */
	uint64_t ns[NR_STATES][COLUMNS];
};

/* Time columns, each 2^shift ns wide. A lane's arrays start with column `first`. */
struct columns {
	uint64_t first;
	unsigned int shift;
};

struct timeline {
	struct hash lanes; /* key: tid, or ENDED | number for exited threads */
	uint64_t nr_begun;
	uint32_t ended; /* tid of the thread whose exit was the last item, 0 if none */
	struct columns columns;
	uint64_t begin_ns, end_ns; /* earliest and latest time seen */
	uint64_t not_followed;	   /* faults in threads over the limit */
};

static void *open_timeline(uint64_t page_bytes)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	(void)page_bytes;
	if (timeline) {
		timeline->columns.shift = FIRST_SHIFT;
		timeline->begin_ns = UINT64_MAX;
	}
	return timeline;
}

static void close_timeline(void *data)
{
	struct timeline *timeline = data;

	hash_exit(&timeline->lanes, free);
	free(timeline);
}

/* *found is NULL if there are too many threads. */
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
	lane->number = ++timeline->nr_begun;
	*found = lane;
	return 0;
}

/* A later thread with the same tid gets another lane. */
static int close_lane(struct timeline *timeline, uint32_t tid)
{
	struct lane *lane = hash_take(&timeline->lanes, tid);
	int err;

	if (!lane)
		return 0;
	if (!lane->faults && !lane->intervals) {
		free(lane);
		return 0;
	}
	err = hash_add(&timeline->lanes, ENDED | lane->number, lane);
	if (err)
		free(lane);
	return err;
}

/*
 * Runs before the next item, because the analysis reports a thread's last faults when the thread
 * exits.
 */
static int close_ended(struct timeline *timeline)
{
	const uint32_t tid = timeline->ended;

	timeline->ended = 0;
	return tid ? close_lane(timeline, tid) : 0;
}

struct change {
	struct columns from, to;
};

/* Adds each old column to the new column covering the same time. */
static int change_lane(void *context, void *value)
{
	const struct change *change = context;
	const unsigned int by = change->to.shift - change->from.shift;
	struct lane *lane = value, old = *lane;
	enum state state;
	unsigned int i;

	memset(lane->ns, 0, sizeof(lane->ns));
	for (state = 0; state < NR_STATES; state++)
		for (i = 0; i < COLUMNS; i++)
			if (old.ns[state][i])
				lane->ns[state][((change->from.first + i) >> by) -
						change->to.first] += old.ns[state][i];
	return 0;
}

static void widen(struct timeline *timeline, uint64_t ns)
{
	if (ns < timeline->begin_ns)
		timeline->begin_ns = ns;
	if (ns > timeline->end_ns)
		timeline->end_ns = ns;
}

/*
 * Extends the columns to cover the range. It may lie before all others, because events are
 * reported when they end.
 */
static void fig_timeline_make_room(struct timeline *timeline, uint64_t from_ns, uint64_t to_ns)
{
	struct change change = { .from = timeline->columns, .to = timeline->columns };

	widen(timeline, from_ns);
	widen(timeline, to_ns);
	while ((timeline->end_ns >> change.to.shift) - (timeline->begin_ns >> change.to.shift) >=
	       COLUMNS)
		change.to.shift++;
	change.to.first = timeline->begin_ns >> change.to.shift;
	if (change.to.first == change.from.first && change.to.shift == change.from.shift)
		return;
	hash_visit(&timeline->lanes, change_lane, &change);
	timeline->columns = change.to;
}

/* Distributes part of a time range over the columns. */
static void spread(struct timeline *timeline, struct lane *lane, enum state state, uint64_t from_ns,
		   uint64_t to_ns, double part)
{
	const struct columns *columns = &timeline->columns;
	uint64_t from, end, column;

	fig_timeline_make_room(timeline, from_ns, to_ns);
	for (from = from_ns; from < to_ns; from = end) {
		column = from >> columns->shift;
		end = (column + 1) << columns->shift;
		/* end is 0 if the clock overflows. */
		if (end > to_ns || !end)
			end = to_ns;
		lane->ns[state][column - columns->first] += (end - from) * part;
	}
}

/*
 * A fault has a limited number of spans. Off-CPU time without a span is after the last span, at an
 * unknown place, so it is distributed over the rest of the fault.
 */
static void add_fault_off(struct timeline *timeline, struct lane *lane,
			  const struct explained *fault)
{
	const uint64_t off_ns =
		fault->end_ns - fault->start_ns - explained_cpu_ns(fault) - fault->reclaim_cpu_ns;
	uint64_t left_ns = off_ns, at_ns = fault->start_ns;
	const struct explain_span *span;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		if (span->on_cpu)
			continue;
		spread(timeline, lane, STATE_FAULT_OFF, span->from_ns, span->to_ns, 1);
		left_ns -= span->to_ns - span->from_ns;
		at_ns = span->to_ns;
	}
	if (left_ns)
		spread(timeline, lane, STATE_FAULT_OFF, at_ns, fault->end_ns,
		       (double)left_ns / (fault->end_ns - at_ns));
	lane->fault_off_ns += off_ns;
}

static int fig_timeline_add_fault(void *data, const struct explained *fault)
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

static int fig_timeline_add_off_cpu(struct timeline *timeline,
				    const struct pfstat_off_cpu *interval)
{
	struct lane *lane;
	int err = lane_get(timeline, interval->event.tid, &lane);

	if (err || !lane)
		return err;
	lane->intervals++;
	lane->off_ns += item_elapsed(interval->off_ns, interval->event.ns);
	spread(timeline, lane, STATE_OFF, interval->off_ns, interval->event.ns, 1);
	return 0;
}

static int fig_timeline_add_task(struct timeline *timeline, const struct pfstat_task *task)
{
	struct lane *lane;
	int err = 0;

	if (task->event.flags & PFSTAT_TASK_EXIT) {
		timeline->ended = task->event.tid;
		return 0;
	}
	/* A thread that is not the leader takes over the leader's tid at exec. */
	if (task->event.flags & PFSTAT_TASK_EXEC && task->parent != task->event.tid)
		timeline->ended = task->parent;
	/* The exit event for an earlier thread with the same tid may have been lost. */
	if (task->event.flags & PFSTAT_TASK_FORK)
		err = close_lane(timeline, task->event.tid);
	if (!err)
		err = lane_get(timeline, task->event.tid, &lane);
	if (!err && lane)
		snprintf(lane->comm, sizeof(lane->comm), "%.15s", task->comm);
	return err;
}

static int fig_timeline_add_item(void *data, const struct item *item)
{
	struct timeline *timeline = data;
	int err = close_ended(timeline);

	if (err || item->type != ITEM_EVENT)
		return err;
	if (item->event->type == PFSTAT_EVENT_OFF_CPU)
		return fig_timeline_add_off_cpu(timeline,
						(const struct pfstat_off_cpu *)item->event);
	if (item->event->type != PFSTAT_EVENT_TASK)
		return 0;
	return fig_timeline_add_task(timeline, (const struct pfstat_task *)item->event);
}

struct lanes {
	struct lane **all;
	size_t nr;
};

static int list_lane(void *context, void *value)
{
	struct lanes *lanes = context;
	struct lane *lane = value;

	if (lane->faults || lane->intervals)
		lanes->all[lanes->nr++] = lane;
	return 0;
}

static bool took_time(const struct lanes *lanes)
{
	size_t i;

	for (i = 0; i < lanes->nr; i++)
		if (lanes->all[i]->fault_ns || lanes->all[i]->off_ns)
			return true;
	return false;
}

/* Longest time in faults first. */
static int by_time(const void *a, const void *b)
{
	const struct lane *left = *(struct lane *const *)a, *right = *(struct lane *const *)b;

	if (left->fault_ns != right->fault_ns)
		return left->fault_ns < right->fault_ns ? 1 : -1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static const char *const state_names[NR_STATES] = { "in a fault, on the CPU",
						    "in a fault, off the CPU",
						    "off the CPU elsewhere" };

static void fig_timeline_name_lane(const struct lane *lane, char *name, size_t size)
{
	if (lane->comm[0])
		snprintf(name, size, "%s (%" PRIu32 ")", lane->comm, lane->tid);
	else
		snprintf(name, size, "thread %" PRIu32, lane->tid);
}

/* The time in one of the three drawn states, which do not overlap. */
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
		/* Time without a known place may have been distributed to other columns. */
		return rest < outside ? rest : outside;
	}
}

/*
 * Edge of a column in ns since the start. The first and the last column are cut at the run's ends.
 */
static uint64_t edge_ns(const struct timeline *timeline, unsigned int column)
{
	uint64_t ns = (timeline->columns.first + column) << timeline->columns.shift;

	if (ns < timeline->begin_ns)
		ns = column ? timeline->end_ns : timeline->begin_ns;
	if (ns > timeline->end_ns)
		ns = timeline->end_ns;
	return ns - timeline->begin_ns;
}

static void write_lane(FILE *csv, const struct timeline *timeline, const struct lane *lane,
		       size_t row)
{
	uint64_t begin_ns, width_ns, state_ns;
	unsigned int column;
	enum state state;
	char name[48];
	double from, share;

	fig_timeline_name_lane(lane, name, sizeof(name));
	for (column = 0; column < COLUMNS; column++) {
		begin_ns = edge_ns(timeline, column);
		width_ns = edge_ns(timeline, column + 1) - begin_ns;
		for (state = 0, from = 0; state < NR_STATES; state++, from += share) {
			state_ns = drawn_ns(lane, column, state, width_ns);
			share = 0;
			if (!state_ns)
				continue;
			share = 100.0 * state_ns / width_ns;
			fprintf(csv, "%zu,", row);
			drawing_cell(csv, name);
			fprintf(csv, ",%.6f,%.6f,%u,%.6f,%.6f\n", begin_ns / 1e6,
				(begin_ns + width_ns) / 1e6, (unsigned int)state, from,
				from + share > 100 ? 100 : from + share);
		}
	}
}

/* Without eBPF a fault's on-CPU and off-CPU parts are unknown. */
static const char *title_of(enum state state, const struct report_faults *faults)
{
	return state == STATE_FAULT && !faults->parts_known ? "in a fault" : state_names[state];
}

static void fig_timeline_write_script(struct drawing *drawing, const struct timeline *timeline,
				      const struct report_faults *faults, const struct lanes *lanes,
				      size_t rows)
{
	static const uint32_t colours[NR_STATES] = { COLOUR_BLUE, COLOUR_BLACK, COLOUR_ORANGE };
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	enum state state;
	/* Without eBPF all off-CPU time is unknown. */
	const enum state drawn = faults->parts_known ? NR_STATES : STATE_FAULT + 1;
	char name[48];
	double factor;
	size_t i;

	for (state = 0; state < drawn; state++)
		drawing_key(drawing, title_of(state, faults));
	drawing_script_begin(drawing, 90 + 42 * rows);
	factor = axes_time(script, "time", (timeline->end_ns - timeline->begin_ns) / 1e6);
	fprintf(script, "set yrange [0.4:%zu.6]\nunset grid\nset ytics scale 0 (", rows);
	for (i = 0; i < rows; i++) {
		fig_timeline_name_lane(lanes->all[i], name, sizeof(name));
		fputs(i ? ", " : "", script);
		drawing_label(script, name);
		fprintf(script, " %zu", rows - i);
	}
	fputs(")\n", script);
	for (state = 0; state < drawn; state++)
		fprintf(script,
			"%s'timeline.csv' skip 1 using (%g*($3+$4)/2):($5 == %u ? $1 : NaN):"
			"(%g*$3):(%g*$4):($1-0.4+0.008*$6):($1-0.4+0.008*$7) \\\n"
			"\twith boxxyerror fc rgb '#%06x' title '%s'%s",
			state ? "\t" : "plot ", factor, (unsigned int)state, factor, factor,
			colours[state], title_of(state, faults),
			state + 1 < drawn ? ", \\\n" : "\n");
	drawing_script_end(drawing);
}

static void say_most(struct drawing *drawing, const struct timeline *timeline,
		     const struct lane *most, bool parts_known)
{
	char name[48];

	fig_timeline_name_lane(most, name, sizeof(name));
	drawing_say(drawing, DRAWING_READING, "%s was in faults for %s of %s", name,
		    drawing_time(most->fault_ns).text,
		    drawing_time(timeline->end_ns - timeline->begin_ns).text);
	if (parts_known)
		drawing_say(drawing, DRAWING_READING, ", %s of it off the CPU",
			    drawing_time(most->fault_off_ns).text);
	if (most->off_ns > most->fault_off_ns)
		drawing_say(drawing, DRAWING_READING, ", and off the CPU elsewhere for %s",
			    drawing_time(most->off_ns - most->fault_off_ns).text);
	drawing_say(drawing, DRAWING_READING, ".");
}

static void say_amount(struct drawing *drawing, const struct timeline *timeline,
		       const struct lanes *lanes, size_t rows, bool parts_known)
{
	uint64_t faults = 0, intervals = 0, left_out = timeline->not_followed;
	size_t i;

	for (i = 0; i < lanes->nr; i++) {
		faults += i < rows ? lanes->all[i]->faults : 0;
		intervals += i < rows ? lanes->all[i]->intervals : 0;
		left_out += i < rows ? 0 : lanes->all[i]->faults;
	}
	drawing_say(drawing, DRAWING_AMOUNT, "%" PRIu64 " logical fault%s", faults, PLURAL(faults));
	if (parts_known)
		drawing_say(drawing, DRAWING_AMOUNT, " and %" PRIu64 " off-CPU interval%s",
			    intervals, PLURAL(intervals));
	drawing_say(drawing, DRAWING_AMOUNT, " of %zu thread%s, added up in %s columns.", rows,
		    PLURAL(rows), drawing_time(1ULL << timeline->columns.shift).text);
	if (left_out)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " %" PRIu64 " fault%s in other threads %s not drawn.", left_out,
			    PLURAL(left_out), left_out == 1 ? "is" : "are");
	if (!parts_known)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " Off-CPU intervals are not known: there was no eBPF.");
}

static int fig_timeline_draw(void *data, const struct figure_source *source,
			     struct drawing *drawing)
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
	} else if (!took_time(&lanes)) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault took any time");
	} else {
		rows = lanes.nr < MOST_LANES ? lanes.nr : MOST_LANES;
		fputs("row,thread,from_ms,to_ms,state,from_percent,to_percent\n",
		      drawing->streams[DRAWING_CSV]);
		for (i = 0; i < rows; i++)
			write_lane(drawing->streams[DRAWING_CSV], timeline, lanes.all[i], rows - i);
		say_most(drawing, timeline, lanes.all[0], source->report->faults.parts_known);
		say_amount(drawing, timeline, &lanes, rows, source->report->faults.parts_known);
		drawing_say(drawing, DRAWING_ALT,
			    "One lane per thread over time: the share of each moment in faults, on "
			    "and off the CPU, and off the CPU elsewhere.");
		fig_timeline_write_script(drawing, timeline, &source->report->faults, &lanes, rows);
	}
	free(lanes.all);
	return 0;
}

const struct figure figure_timeline = {
	.name = "timeline",
	.title = "Thread states",
	.open = open_timeline,
	.close = close_timeline,
	.item = fig_timeline_add_item,
	.fault = fig_timeline_add_fault,
	.draw = fig_timeline_draw,
};
