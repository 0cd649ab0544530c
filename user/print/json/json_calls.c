// SPDX-License-Identifier: GPL-2.0-only
/* The calls that shape mappings in JSON, in the order of their first calls. */
#include "model/call_kind.h"
#include "print/json/json_parts.h"
#include "util/json_value.h"

static json_t *json_call(const struct report_call *row)
{
	char detail[256];

	call_kind_print_detail(row->sum.kind, row->sum.detail, detail, sizeof(detail));
	return json_pack("{ss so so so so so so so so so so}", "name",
			 call_kind_name(row->sum.kind), "detail", value_wide(row->sum.detail),
			 "detail_name", value_text(detail), "file", value_text(row->file), "caller",
			 value_text(row->caller), "count", value_count(row->sum.count), "failed",
			 value_count(row->sum.failed), "bytes", value_wide(row->sum.bytes),
			 "total_ns", value_count(row->sum.total_ns), "first_ns",
			 value_count(row->sum.first_ns), "last_ns", value_count(row->sum.last_ns));
}

json_t *json_calls(const struct report *run)
{
	json_t *rows;
	size_t i;

	if (!run->bpf.known || view_source_is_perf(run))
		return json_null();
	rows = json_array();
	for (i = 0; i < run->calls.nr; i++)
		rows = value_appended(rows, json_call(&run->calls.rows[i]));
	return json_pack("{so so}", "rows", rows, "left_out", value_count(run->calls.left_out));
}
