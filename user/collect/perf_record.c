// SPDX-License-Identifier: GPL-2.0-only
/* Time and thread of perf's records. All but samples and losses end with both (sample_id_all). */
#include <stddef.h>

#include "collect/perf_record.h"

uint64_t perf_record_ns(const struct perf_event_header *record)
{
	const size_t last = record->size / 8 - 1;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return record->size == sizeof(struct sample_start) ?
			       ((const struct sample_start *)record)->ns :
			       ((const struct sample_end *)record)->ns;
	case PERF_RECORD_LOST:
		return record->size >= sizeof(struct record_lost) ?
			       ((const struct record_lost *)record)->at.ns :
			       0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_SWITCH:
		return ((const uint64_t *)record)[last];
	default:
		return 0;
	}
}

uint32_t perf_record_tid(const struct perf_event_header *record)
{
	const struct record_id *last = (const void *)((const char *)record + record->size);

	if (record->type == PERF_RECORD_SAMPLE)
		return record->size == sizeof(struct sample_start) ?
			       ((const struct sample_start *)record)->tid :
			       ((const struct sample_end *)record)->tid;
	return record->type == PERF_RECORD_LOST ? ((const struct record_lost *)record)->at.tid :
						  last[-1].tid;
}
