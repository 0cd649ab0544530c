// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds arbitrary bytes to the readers of pfdrive's live sources. An input that starts with
 *
 *	'R'	is a mapped ring: its header page and the pages after it
 *	'L'	is lines of /proc/PID/maps
 *	'E'	is a stream: a byte that selects the groups, one that selects the format of
 *		the report, then items: u8 kind, u16 size, payload. Kind modulo 3 is a
 *		record (cut or filled with 0), an unchanged event, or a mapping (its path
 *		has that size). Valid items pass through the queue and the analysis. Some
 *		inputs print the report, and the page with the figures: the slowest step.
 *		gnuplot does not run
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/cmd/report_options.h"
#include "user/figures/figures.h"
#include "user/print/html/html.h"
#include "user/print/print_report.h"
#include "user/system/proc_maps.h"
#include "user/collect/time_order.h"
#include "user/collect/record_ring.h"
#include "user/analyze/analysis.h"
#include "user/model/item_valid.h"
#include "user/report/report.h"

#define PAGE	      4096U
#define RING_FILE_MAX (1ULL << 48) /* more than a process can map: record_ring_open() refuses it */
#define PRINT	      8		   /* bits in the byte selecting the groups */
#define SLOWEST	      7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The file that the kernel would map for this header: with the claimed size, zero beyond the data.
 */
static int make_ring_file(const uint8_t *data, size_t size)
{
	struct pfstat_ring_header header = { 0 };
	uint64_t bytes = PAGE + size;
	int fd = memfd_create("ring", MFD_CLOEXEC);

	memcpy(&header, data, size < sizeof(header) ? size : sizeof(header));
	if (header.capacity < RING_FILE_MAX / sizeof(struct pfstat_record))
		bytes += header.capacity * sizeof(struct pfstat_record);
	if (fd < 0 || ftruncate(fd, bytes))
		abort();
	/* The header page is truncated in the input. Records follow at once. */
	if (pwrite(fd, data, size < sizeof(header) ? size : sizeof(header), 0) < 0)
		abort();
	if (size > sizeof(header) &&
	    pwrite(fd, data + sizeof(header), size - sizeof(header), PAGE) < 0)
		abort();
	return fd;
}

static void read_ring(struct record_ring *ring, size_t most)
{
	const struct pfstat_record *record;
	int err = 0;

	record_ring_look(ring);
	while (most-- && (record = record_ring_peek(ring, &err))) {
		if (record->sequence != ring->next + 1 || record < ring->data ||
		    record >= ring->data + ring->capacity)
			abort();
		(void)item_valid_record(record);
		record_ring_next(ring);
	}
	if (err && err != -EBADMSG)
		abort();
	record_ring_publish(ring);
}

static void fuzz_ring(const uint8_t *data, size_t size)
{
	int fd = make_ring_file(data, size);
	struct record_ring ring;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!record_ring_open(&ring, path)) {
		read_ring(&ring, 2 * size / sizeof(struct pfstat_record) + 2);
		record_ring_close(&ring);
	} else if (ring.fd >= 0) {
		abort(); /* refused, but left open */
	}
	close(fd);
}

static int check_map(void *context, const struct item_map *map)
{
	(void)context;
	if (!item_valid_map(map) || !map->bytes)
		abort();
	return 0;
}

static void fuzz_lines(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *line, *rest;
	struct proc_maps maps = { 0 };
	int err;

	memcpy(text, data, size);
	text[size] = '\0';
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		err = proc_maps_add_line(&maps, 100, line);
		if (err && err != -EINVAL)
			abort();
	}
	if (proc_maps_hand_over(&maps, check_map, NULL))
		abort();
	proc_maps_exit(&maps);
	free(text);
}

static void add_record(struct reorder_queue *queue, const uint8_t *data, size_t size)
{
	struct pfstat_record record = { 0 };

	memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
	if (item_valid_record(&record) &&
	    reorder_queue_add(queue, ITEM_RECORD, item_record_end_ns(&record), &record,
			      sizeof(record)))
		abort();
}

static void add_event(struct reorder_queue *queue, const uint8_t *data, size_t size)
{
	struct pfstat_event *event = malloc(size ?: 1); /* the sanitizer detects a read beyond it */

	memcpy(event, data, size);
	if (item_valid_event(event, size) &&
	    reorder_queue_add(queue, ITEM_EVENT, event->ns, event, event->size))
		abort();
	free(event);
}

static void add_map(struct reorder_queue *queue, const uint8_t *data, size_t size)
{
	struct item_map *map;

	if (size <= sizeof(*map))
		return;
	map = malloc(size);
	memcpy(map, data, size);
	map->path_bytes = size - sizeof(*map);
	if (item_valid_map(map) && reorder_queue_add(queue, ITEM_MAP, map->ns, map, size))
		abort();
	free(map);
}

static void fill_queue(struct reorder_queue *queue, const uint8_t *data, size_t left)
{
	static void (*const adders[])(struct reorder_queue *queue, const uint8_t *data,
				      size_t size) = {
		add_record,
		add_event,
		add_map,
	};
	uint16_t size;

	while (left >= 3) {
		memcpy(&size, data + 1, sizeof(size));
		if (size > left - 3)
			size = left - 3;
		adders[data[0] % 3](queue, data + 3, size);
		data += 3 + size;
		left -= 3 + size;
	}
	reorder_queue_sort(queue);
}

struct fuzz_stream {
	struct analysis *analysis;
	struct fault_stream faults; /* for a format with every fault */
	struct figures figures;
	bool is_open;
};

static int stream_add_fault(void *context, const struct explained *fault)
{
	struct fuzz_stream *stream = context;

	return stream->faults.format ? fault_stream_fault(&stream->faults, fault) : 0;
}

static void stream_open(struct fuzz_stream *stream, enum report_format format, FILE *out)
{
	stream->is_open = true;
	analysis_keep_slowest(stream->analysis, SLOWEST);
	if (figures_open(&stream->figures, stream->analysis) ||
	    analysis_listen(stream->analysis, stream_add_fault, stream))
		abort();
	if (report_format_has_faults(format) &&
	    fault_stream_open(&stream->faults, format, out, stream->analysis, &TIME_RANGE_ALL))
		abort();
}

static int stream_add_item(struct fuzz_stream *stream, const struct item *item)
{
	int err = stream->is_open ? figures_item(&stream->figures, item) : 0;

	return err						  ?:
		       fault_stream_before(&stream->faults, item) ?:
		       analysis_add(stream->analysis, item)	  ?:
		       fault_stream_after(&stream->faults, item);
}

static void stream_print(struct fuzz_stream *stream, enum report_format format, enum group_by by,
			 FILE *out)
{
	char *no_svgs[FIGURES_NR] = { NULL };
	struct run_counters counters;
	struct report report;
	const struct figure_source source = { &report, stream->analysis };
	struct group *stacks;
	struct html_page page = {
		.report = &report,
		.recording = "run.pfs",
		.drawings = stream->figures.drawings,
		.svgs = no_svgs,
		.nr = FIGURES_NR,
	};

	run_counters_init(&counters);
	report_init(&report);
	report.bpf.known = true;
	report.groups.wanted = true;
	report.groups.by = by;
	report.slowest.wanted = SLOWEST;
	if (report_fill(&report, stream->analysis, &counters) ||
	    figures_draw(&stream->figures, &source) ||
	    analysis_groups(stream->analysis, GROUP_BY_STACK, &stacks, &page.nr_stacks))
		abort();
	page.stacks = stacks;
	if (html_print_report(out, &page))
		abort();
	free(stacks);
	if (report_format_has_faults(format) ?
		    fault_stream_end(&stream->faults, &report, counters.start_ns) :
		    print_report(out, format, &report, 1))
		abort();
	report_exit(&report);
	run_counters_exit(&counters);
}

static void fuzz_stream(const uint8_t *data, size_t size)
{
	const enum group_by by = data[0] / 16 % NR_GROUP_BY;
	const enum report_format format = data[1] % NR_REPORT_FORMATS;
	const unsigned int groups = 1U << by | 1U << GROUP_BY_STACK;
	struct fuzz_stream stream = { .analysis = analysis_new(true, 4096, groups) };
	struct reorder_queue queue = { 0 };
	static FILE *nowhere;
	uint64_t before = 0;
	struct item item;
	int err = 0;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	analysis_expect_spans(stream.analysis, size % 2);
	if (data[0] & PRINT)
		stream_open(&stream, format, nowhere);
	fill_queue(&queue, data + 2, size - 2);
	while (!err && reorder_queue_any(&queue)) {
		item = reorder_queue_take(&queue);
		if (item.ns < before)
			abort();
		before = item.ns;
		err = stream_add_item(&stream, &item);
	}
	/* -EINVAL refuses an unknown event. pfdrive would exit. */
	if ((err && err != -EINVAL) || analysis_finish(stream.analysis))
		abort();
	if (data[0] & PRINT)
		stream_print(&stream, format, by, nowhere);
	fault_stream_close(&stream.faults);
	figures_close(&stream.figures);
	analysis_free(stream.analysis);
	reorder_queue_exit(&queue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return -1; /* not worth keeping in the corpus */
	switch (data[0]) {
	case 'R':
		fuzz_ring(data + 1, size - 1);
		return 0;
	case 'L':
		fuzz_lines(data + 1, size - 1);
		return 0;
	case 'E':
		fuzz_stream(data + 1, size - 1);
		return 0;
	default:
		return -1;
	}
}
