// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's groups in JSON: faults by file, mapping, thread or place in the code. The rows come from
 * the view, costliest first.
 */
#include "print/json/json_parts.h"
#include "print/json/json_spread.h"
#include "util/json_value.h"

static json_t *group_classes_of(const struct report *run, const struct group *group)
{
	json_t *classes = json_object();
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		classes = value_with(classes, fault_class_name(class),
				     value_count_if(view_class_known(run, class),
						    group->classes[class]));
	return classes;
}

static json_t *group_parts_of(const struct report *run, const struct group *group)
{
	json_t *parts = json_object();
	enum part part;

	for (part = 0; part < NR_PARTS; part++)
		parts = value_with(parts, part_name(part),
				   value_count_if(view_part_known(run, part),
						  group->parts_ns[part]));
	return parts;
}

static json_t *group_row_of(const struct report *run, const struct group *group)
{
	const char *advice = view_advice_name(group);
	const struct value_member members[] = {
		{ "name", value_text(group->name) },
		{ "pid", value_count_if(group->pid, group->pid) },
		{ "tid", value_count_if(group->tid, group->tid) },
		{ "address", group->address ? value_wide(group->address) : json_null() },
		{ "inode", group->inode ? value_wide(group->inode) : json_null() },
		{ "dev", value_count_if(group->inode, group->dev) },
		{ "faults", value_count(group->faults) },
		{ "major", value_count(group->major) },
		{ "total_ns", value_count(group->total_ns) },
		{ "max_ns", value_count(group->max_ns) },
		{ "mean_ns", json_real_or_null(view_share(group->total_ns, group->faults)) },
		{ "read_bytes", value_count_if(view_has_hook(run, HOOK_BLOCK), group->read_bytes) },
		{ "classes", group_classes_of(run, group) },
		{ "parts", group_parts_of(run, group) },
		{ "advice", advice ? json_string(advice) : json_null() },
		{ "readahead_bytes", value_known(view_ra_bytes(run, group)) },
		{ "mmap_miss", value_known(view_mmap_miss(group)) },
		{ "folded", value_count_if(group->folded, group->folded) },
		{ "others_max_ns", value_count(group->others_max_ns) },
		{ NULL, NULL },
	};

	return value_object(members);
}

json_t *json_groups(const struct view *view)
{
	const struct report *run = view->run;
	json_t *rows;
	size_t i;

	if (!run->groups.wanted)
		return json_null();
	rows = json_array();
	for (i = 0; i < view->nr_rows; i++)
		rows = value_appended(rows, group_row_of(run, &run->groups.rows[i]));
	return json_pack("{ss so s{so so so}}", "by", view_group_name(run->groups.by), "rows", rows,
			 "left_out", "rows", value_count(run->groups.nr - view->nr_rows), "faults",
			 value_count(view->left_out.faults), "total_ns",
			 value_count(view->left_out.total_ns));
}
