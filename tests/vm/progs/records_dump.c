// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a recording's records as the module's file `log` prints them: a line with the column
 * names, then a line per record. The last two columns are not in `log`.
 *
 *	records_dump RECORDING
 *	records_dump RECORDING faults
 *
 * The second form prints the handle_mm_fault() returns that eBPF reported: a line for each, then
 * the count and the time for each kind, origin and outcome.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "user/recording/reader.h"

static const char *const op_names[PFSTAT_NR_OPS] = PFSTAT_OP_NAMES;
static const char *const class_names[PFSTAT_NR_CLASSES] = PFSTAT_CLASS_NAMES;

static void print_record(const struct pfstat_record *r)
{
	printf("%llu %llu %u %u %u %s %s 0x%llx %llu ", r->start_ns, r->duration_ns, r->pid, r->tid,
	       r->cpu, op_names[r->op], class_names[r->class], r->address, r->pgoff);
	if (r->pfn == PFSTAT_NO_PFN)
		printf("-");
	else
		printf("0x%llx", r->pfn);
	printf(" %u %u:%u %llu 0x%x 0x%x %c%c%c%c%c %llu %llu %llu\n", r->order, r->dev >> 20,
	       r->dev & 0xfffff, r->inode, r->flags, r->result,
	       r->facts & PFSTAT_FACT_SLEPT ? 's' : '-',
	       r->facts & PFSTAT_FACT_PREEMPTED ? 'p' : '-',
	       r->facts & PFSTAT_FACT_SHARED ? 'S' : '-', r->facts & PFSTAT_FACT_COW ? 'c' : '-',
	       r->facts & PFSTAT_FACT_FOLIO ? 'f' : '-', r->earlier_ns, r->fault_ns, r->before_ns);
}

static const char *const kind_names[PFSTAT_NR_FAULT_KINDS] = PFSTAT_FAULT_KIND_NAMES;
static const char *const origin_names[PFSTAT_NR_ORIGINS] = PFSTAT_FAULT_ORIGIN_NAMES;
static const char *const outcome_names[PFSTAT_NR_OUTCOMES] = PFSTAT_FAULT_OUTCOME_NAMES;

static void print_fault(const struct pfstat_fault *f)
{
	printf("event %s %s %s %llu %llu %u 0x%llx 0x%x\n",
	       kind_names[PFSTAT_FAULT_KIND(f->event.flags)], origin_names[f->origin],
	       outcome_names[f->outcome], f->start_ns, f->event.ns, f->event.tid, f->address,
	       f->result);
}

static void print_totals(const json_t *tail)
{
	const json_t *bpf = json_object_get(tail, "bpf");
	const json_t *rows = json_object_get(bpf, "faults"), *row;
	size_t i;

	json_array_foreach(rows, i, row)
		printf("total %s %s %s %" JSON_INTEGER_FORMAT " %" JSON_INTEGER_FORMAT "\n",
		       json_string_value(json_object_get(row, "kind")),
		       json_string_value(json_object_get(row, "origin")),
		       json_string_value(json_object_get(row, "outcome")),
		       json_integer_value(json_object_get(row, "count")),
		       json_integer_value(json_object_get(row, "total_ns")));
}

static void print_item(const struct item *item, bool faults)
{
	if (!faults && item->type == ITEM_RECORD)
		print_record(item->record);
	if (faults && item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_FAULT)
		print_fault((const struct pfstat_fault *)item->event);
}

int main(int argc, char **argv)
{
	struct recording_reader *reader;
	struct item item;
	struct why why;
	const bool faults = argc == 3 && !strcmp(argv[2], "faults");
	int got;

	if (argc != 2 + faults || recording_open(&reader, argv[1], &why)) {
		fprintf(stderr, "records_dump: %s\n",
			argc == 2 + faults ? why.text : "give one recording");
		return 1;
	}
	if (!faults)
		puts("# start_ns duration_ns pid tid cpu op class address pgoff pfn order dev "
		     "inode flags result facts earlier_ns fault_ns before_ns");
	while ((got = recording_next(reader, &item)) > 0)
		print_item(&item, faults);
	if (faults)
		print_totals(recording_tail(reader));
	if (!got && recording_damage(reader)) {
		fprintf(stderr, "records_dump: %s\n", recording_damage(reader));
		got = -1;
	}
	recording_close(reader);
	return got ? 1 : 0;
}
