// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the records of a recording as the module's file `log` prints them, and the time of
 * handle_mm_fault(): a line with the names of the columns, then a line for each record.
 *
 *	records_dump RECORDING
 */
#include <inttypes.h>
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

int main(int argc, char **argv)
{
	struct recording_reader *reader;
	struct item item;
	char why[256];
	int got;

	if (argc != 2 || recording_open(&reader, argv[1], why, sizeof(why))) {
		fprintf(stderr, "records_dump: %s\n", argc == 2 ? why : "give one recording");
		return 1;
	}
	puts("# start_ns duration_ns pid tid cpu op class address pgoff pfn order dev inode flags "
	     "result facts earlier_ns fault_ns before_ns");
	while ((got = recording_next(reader, &item)) > 0)
		if (item.type == ITEM_RECORD)
			print_record(item.record);
	if (!got && recording_damage(reader)) {
		fprintf(stderr, "records_dump: %s\n", recording_damage(reader));
		got = -1;
	}
	recording_close(reader);
	return got ? 1 : 0;
}
