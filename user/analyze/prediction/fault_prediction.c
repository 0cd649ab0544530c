// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes the accesses of a list one by one through fault-around, the read-ahead rule and the page
 * tables. All state is freed at the end.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/prediction/prediction.h"

/* Pages that a page table maps: fault-around does not leave it. */
#define TABLE_PAGES 512U

/* The mapped pages of a mapping, a bit for each, by page table. */
struct mapped_pages {
	struct hash tables;
	uint64_t recent;
	uint64_t *recent_bits;
	uint64_t nr; /* of them */
};

struct prediction_run {
	const struct access_list *list;
	const struct prediction_settings *settings;
	struct readahead_rule rule;
	struct cached_file *files;
	struct readahead_state *states; /* of the streams */
	bool *opened;			/* a stream's header was read */
	struct mapped_pages *mapped;	/* of the mappings */
	struct fault_prediction counts;
	struct read_clock clock;
	struct read_cost *learned; /* NULL unless it is to be learned */
};

/* What a fault is about. */
struct predicted_fault {
	const struct access *access;
	const struct access_mapping *mapping;
	struct mapped_pages *mapped;
	struct cached_file *file;
	struct readahead_state *state;
};

static uint64_t *table_bits(struct mapped_pages *mapped, uint64_t table)
{
	if (!mapped->recent_bits || mapped->recent != table) {
		mapped->recent_bits = hash_find(&mapped->tables, table);
		mapped->recent = table;
	}
	return mapped->recent_bits;
}

static uint64_t address_page(const struct access_mapping *mapping, uint64_t page)
{
	return mapping->address_page + (page - mapping->first);
}

static bool is_mapped(const struct predicted_fault *fault, uint64_t page)
{
	const uint64_t at = address_page(fault->mapping, page);
	const uint64_t *bits = table_bits(fault->mapped, at / TABLE_PAGES);

	return bits && bits[at % TABLE_PAGES / 64] >> at % 64 & 1;
}

/* Returns true if it was not mapped. */
static bool map_page(const struct predicted_fault *fault, uint64_t page)
{
	const uint64_t at = address_page(fault->mapping, page), table = at / TABLE_PAGES;
	uint64_t *bits = table_bits(fault->mapped, table);
	uint64_t *word, bit = 1ULL << at % 64;

	if (!bits) {
		bits = calloc(1, TABLE_PAGES / 8);
		if (!bits || hash_add(&fault->mapped->tables, table, bits)) {
			free(bits);
			fault->file->err = -ENOMEM;
			return false;
		}
		fault->mapped->recent_bits = bits;
	}
	word = &bits[at % TABLE_PAGES / 64];
	if (*word & bit)
		return false;
	*word |= bit;
	fault->mapped->nr++;
	return true;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The pages of the mapping in an aligned range of @pages that has the page, as [*first, *end). */
static void aligned_range(const struct predicted_fault *fault, uint64_t page, uint64_t pages,
			  uint64_t *first, uint64_t *end)
{
	const uint64_t before = address_page(fault->mapping, page) & (pages - 1);

	*first = page - lower(before, page - fault->mapping->first);
	*end = lower(page - before + pages, fault->mapping->end);
}

/* Maps those pages of a folio that a fault maps at once. Returns how many were not mapped. */
static uint64_t map_folio(const struct predicted_fault *fault, uint64_t first, uint64_t end)
{
	uint64_t page, mapped = 0;

	for (page = first; page < end; page++)
		mapped += map_page(fault, page);
	return mapped;
}

/*
 * Fault-around: maps the cached pages around the page, except folios with a mark. Returns true if
 * the page itself is mapped. @tried: the fault was major.
 */
static bool map_around(struct prediction_run *run, const struct predicted_fault *fault,
		       const struct readahead_access *access, bool tried)
{
	const bool whole = run->list->kernel->whole_folios;
	uint64_t page, from, end, first, last, table_first, table_end, hits = 0;
	struct cached_folio folio;
	bool found;

	if (run->settings->around <= 1 || run->settings->single || fault->access->write)
		return false;
	aligned_range(fault, fault->access->page, run->settings->around, &from, &end);
	aligned_range(fault, fault->access->page, TABLE_PAGES, &table_first, &table_end);
	from = higher(from, table_first);
	end = lower(end, table_end);
	for (page = from; page < end; page++) {
		if (!cached_file_has(fault->file, page))
			continue;
		folio = cached_file_folio(fault->file, page);
		last = folio.first + folio.pages;
		if (!cached_file_has_mark(fault->file, page) &&
		    read_clock_rest(&run->clock, fault->file, page) <= 0) {
			first = whole ? higher(folio.first, table_first) : page;
			hits += map_folio(fault, first, lower(last, whole ? table_end : end));
		}
		page = last - 1;
	}
	found = is_mapped(fault, fault->access->page);
	readahead_rule_around(&run->rule, fault->state, access, hits, found && !tried);
	return found;
}

/* The end of a fault on a page that is cached now. */
static void map_faulting(struct prediction_run *run, const struct predicted_fault *fault)
{
	const struct cached_folio folio = cached_file_folio(fault->file, fault->access->page);
	uint64_t first, end;

	aligned_range(fault, fault->access->page, TABLE_PAGES, &first, &end);
	if (run->list->kernel->whole_folios && !run->settings->single && !fault->access->write &&
	    folio.first >= first && folio.first + folio.pages <= end)
		map_folio(fault, folio.first, folio.first + folio.pages);
	else
		map_page(fault, fault->access->page);
}

static enum fault_class predict_fault(struct prediction_run *run,
				      const struct predicted_fault *fault)
{
	const enum mapping_advice advice = run->settings->advice;
	const struct access_mapping *mapping = fault->mapping;
	const struct readahead_access access = {
		.page = fault->access->page,
		.end = mapping->end,
		.advice = advice == MAPPING_MIXED || !mapping->data ? mapping->advice : advice,
		.code = mapping->code,
	};
	enum fault_class class;

	if (map_around(run, fault, &access, false)) {
		run->counts.minor++;
		return FAULT_LONG;
	}
	class = readahead_rule_fault(&run->rule, fault->file, fault->state, &access);
	if (class == FAULT_DISK)
		run->counts.major++;
	else
		run->counts.minor++;
	/* The kernel drops the lock of the mapping, and restarts the fault. */
	if (class != FAULT_LONG && map_around(run, fault, &access, class == FAULT_DISK))
		return class;
	if (class == FAULT_READAHEAD)
		readahead_rule_retry(&run->rule, fault->state, &access);
	map_faulting(run, fault);
	return class;
}

static void predict_timed_fault(struct prediction_run *run, const struct predicted_fault *fault,
				const struct access_time *time)
{
	const uint64_t read = fault->file->nr_read, mapped = fault->mapped->nr;
	const enum fault_class class = predict_fault(run, fault);
	const struct fault_work work = {
		.class = class,
		.file = fault->file,
		.page = fault->access->page,
		.first = fault->state->start,
		.window = fault->state->size,
		.read_pages = fault->file->nr_read - read,
		.mapped_pages = fault->mapped->nr - mapped,
	};

	if (run->learned)
		read_cost_learn(run->learned, &run->clock, &work, time);
	else if (run->settings->cost)
		read_clock_take(&run->clock, run->settings->cost, &work);
}

static int predict_access(struct prediction_run *run, const struct access *access,
			  const struct access_time *time)
{
	const struct access_mapping *mapping = &run->list->mappings[access->mapping];
	const struct access_stream *stream = &run->list->streams[mapping->stream];
	const struct predicted_fault fault = {
		.access = access,
		.mapping = mapping,
		.mapped = &run->mapped[access->mapping],
		.file = &run->files[stream->file],
		.state = &run->states[mapping->stream],
	};

	if (run->settings->window == PREDICTION_RECORDED)
		run->rule.window = run->list->file_windows[stream->file];
	if (stream->executed && !run->opened[mapping->stream])
		readahead_rule_read(&run->rule, fault.file, fault.state, 0, 1);
	run->opened[mapping->stream] = true;
	cached_file_access(fault.file, access->page);
	if (run->settings->cost)
		read_clock_pass(&run->clock, run->settings->cost, time);
	if (!is_mapped(&fault, access->page))
		predict_timed_fault(run, &fault, time);
	return fault.file->err;
}

static int prediction_open(struct prediction_run *run)
{
	const struct access_list *list = run->list;
	size_t i;

	run->files = calloc(list->nr_files + 1, sizeof(*run->files));
	run->states = calloc(list->nr_streams + 1, sizeof(*run->states));
	run->opened = calloc(list->nr_streams + 1, sizeof(*run->opened));
	run->mapped = calloc(list->nr_mappings + 1, sizeof(*run->mapped));
	if (!run->files || !run->states || !run->opened || !run->mapped)
		return -ENOMEM;
	for (i = 0; i < list->nr_files; i++)
		cached_file_open(&run->files[i], list->file_pages[i]);
	return 0;
}

static void prediction_close(struct prediction_run *run)
{
	size_t i;

	for (i = 0; run->files && i < run->list->nr_files; i++)
		cached_file_close(&run->files[i]);
	for (i = 0; run->mapped && i < run->list->nr_mappings; i++)
		hash_exit(&run->mapped[i].tables, free);
	free(run->files);
	free(run->states);
	free(run->opened);
	free(run->mapped);
}

static int prediction_make(struct prediction_run *run, const struct access_list *list,
			   const struct prediction_settings *settings)
{
	int err;
	size_t i;

	run->list = list;
	run->settings = settings;
	run->rule = (struct readahead_rule){ .kernel = list->kernel,
					     .window = settings->window,
					     .large_folios = list->large_folios };
	err = prediction_open(run);
	for (i = 0; i < list->nr_accesses && !err; i++)
		err = predict_access(run, &list->accesses[i], list->times ? &list->times[i] : NULL);
	for (i = 0; i < list->nr_files && !err; i++) {
		run->counts.read_pages += run->files[i].nr_read;
		run->counts.unused_pages += run->files[i].nr_read - run->files[i].nr_accessed;
	}
	prediction_close(run);
	return err;
}

/* The middle of a range, with half of it as an error. */
static int prediction_widen(struct fault_prediction *prediction, const struct access_list *list,
			    const struct prediction_settings *settings)
{
	struct prediction_run run = { .clock = { .slow = true } };
	const int err = prediction_make(&run, list, settings);
	const double half = (run.clock.total_ns - prediction->total_ns) / 2;

	prediction->total_ns += half;
	prediction->error_ns += fabs(half);
	return err;
}

int fault_prediction_make(struct fault_prediction *prediction, const struct access_list *list,
			  const struct prediction_settings *settings)
{
	struct prediction_run run = { 0 };
	int err = prediction_make(&run, list, settings);

	*prediction = run.counts;
	if (err || !settings->cost)
		return err;
	prediction->total_ns = run.clock.total_ns;
	prediction->error_ns = read_clock_error(&run.clock, settings->cost);
	return read_cost_is_range(settings->cost) ? prediction_widen(prediction, list, settings) :
						    0;
}

int fault_prediction_learn(struct read_cost *cost, const struct access_list *list,
			   const struct prediction_settings *settings)
{
	struct prediction_run run = { .learned = cost };

	*cost = (struct read_cost){ 0 };
	return prediction_make(&run, list, settings);
}
