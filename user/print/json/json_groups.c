// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's groups in JSON: faults by file, mapping, thread or place in the code. The rows come from
 * the view, costliest first.
 */
#include "fields/tables.h"
#include "print/json/json_parts.h"
#include "util/json_value.h"

static json_t *group_class_count(const struct report *run, const void *object, unsigned int class)
{
	const struct group *group = object;

	return value_count_if(view_class_known(run, class), group->classes[class]);
}

static const struct fields group_classes_fields = {
	.name = "group_classes",
	.about = "Fault counts, by the classes in fault_classes.",
	.nr_words = NR_FAULT_CLASSES,
	.word = fault_class_name,
	.each = group_class_count,
	.definition = "count_or_null",
};

static json_t *group_part_ns(const struct report *run, const void *object, unsigned int part)
{
	const struct group *group = object;

	return value_count_if(view_part_known(run, part), group->parts_ns[part]);
}

static const struct fields group_parts_fields = {
	.name = "group_parts",
	.about = "Sums over the group's faults, ns, by the parts in fault_parts.",
	.nr_words = NR_PARTS,
	.word = part_name,
	.each = group_part_ns,
	.definition = "count_or_null",
};

static json_t *group_mean_ns(const struct report *run __attribute__((unused)), const void *object)
{
	const struct group *group = object;

	return value_real(view_share(group->total_ns, group->faults));
}

static json_t *group_advice(const struct report *run __attribute__((unused)), const void *object)
{
	return value_text(view_advice_name(object));
}

static json_t *group_ra_bytes(const struct report *run, const void *object)
{
	return value_known(view_ra_bytes(run, object));
}

static json_t *group_mmap_miss(const struct report *run __attribute__((unused)), const void *object)
{
	return value_known(view_mmap_miss(object));
}

static json_t *group_filesystem(const struct report *run __attribute__((unused)),
				const void *object)
{
	const struct group *group = object;

	return value_text(group->filesystem ? group->filesystem->type : NULL);
}

static json_t *group_mount_source(const struct report *run __attribute__((unused)),
				  const void *object)
{
	const struct group *group = object;

	return value_text(group->filesystem ? group->filesystem->source : NULL);
}

static bool group_has_address(const struct report *run __attribute__((unused)), const void *object)
{
	return ((const struct group *)object)->address;
}

static bool group_has_file(const struct report *run __attribute__((unused)), const void *object)
{
	return ((const struct group *)object)->inode;
}

static const char *const group_advices[] = { "normal", "random", "sequential", "mixed" };

static const struct field group_rows[] = {
	FIELD(POINTER, group, name,
	      "Path, PID START-END path, name (tid), symbol or function (object), or "
	      "source:line (object); (others): all folded groups."),
	FIELD(NONZERO, group, pid, NULL),
	FIELD(NONZERO, group, tid, NULL),
	FIELD(WIDE, group, address,
	      "Where the mapping or the code starts. 64 bits: a string with decimal digits when "
	      "it is 2^63 or more.",
	      .known = group_has_address),
	FIELD(WIDE, group, inode, "64 bits, likewise.", .known = group_has_file),
	FIELD(COUNT, group, dev, "The file's super block: major << 20 | minor.",
	      .known = group_has_file),
	FIELD_OF_ALL("filesystem", MADE,
		     "The file system's type in the mount table: ext4, nfs4, fuse.sshfs. null: not "
		     "a file, or not known.",
		     .make = group_filesystem, .or_null = true),
	FIELD_OF_ALL("mount_source", MADE,
		     "The mounted device, or the server: /dev/sda1, server:/export.",
		     .make = group_mount_source, .or_null = true),
	FIELD(COUNT, group, faults, NULL),
	FIELD(COUNT, group, major, NULL),
	FIELD(COUNT, group, total_ns, NULL),
	FIELD(COUNT, group, max_ns, NULL),
	FIELD_OF_ALL("mean_ns", MADE, NULL, .make = group_mean_ns, .definition = "figure_or_null"),
	FIELD(COUNT, group, read_bytes,
	      "Block reads that the faulting thread submitted in the group's faults, and that "
	      "were complete at the fault's end. Read-ahead that ended later is not in it. null: "
	      "no hook for requests.",
	      .needs = 1U << HOOK_BLOCK),
	FIELD_OF_ALL("classes", OBJECT, "Faults by class.", .of = &group_classes_fields),
	FIELD_OF_ALL("parts", OBJECT, "Sums, ns.", .of = &group_parts_fields),
	FIELD_OF_ALL("advice", MADE, "The mapping's last known advice; mixed: its parts differ.",
		     .make = group_advice, FIELD_WORDS(group_advices), .or_null = true),
	FIELD_OF_ALL("readahead_bytes", MADE,
		     "The most that the mapping's read-ahead reads from its open file; 0: none.",
		     .make = group_ra_bytes, .definition = "count_or_null"),
	FIELD_OF_ALL("mmap_miss", MADE,
		     "The kernel's counter for the mapping's open file: faults that had to start "
		     "a read.",
		     .make = group_mmap_miss, .definition = "count_or_null"),
	FIELD(NONZERO, group, folded,
	      "Folded groups in (others); one that came back counts each time. Else null."),
	FIELD(COUNT, group, others_max_ns,
	      "Limit on its time in (others). In the row (others): on the time that each folded "
	      "group spent."),
};

static const struct fields group_fields =
	FIELDS("group", "One file, mapping, thread or place in the code.", group, group_rows);

struct groups_left_out {
	uint64_t rows, faults, total_ns;
};

static const struct field left_out_rows[] = {
	FIELD(COUNT, groups_left_out, rows, NULL),
	FIELD(COUNT, groups_left_out, faults, NULL),
	FIELD(COUNT, groups_left_out, total_ns, NULL),
};

static const struct fields left_out_fields =
	FIELDS("left_out", "The rows that --top leaves out.", groups_left_out, left_out_rows);

struct groups_row {
	enum group_by by;
	const struct group *rows;
	size_t nr;
	struct groups_left_out left_out;
};

static const char *const dimensions[NR_GROUP_BY] = GROUP_BY_NAMES;

static const struct field groups_rows[] = {
	FIELD(WORD, groups_row, by, NULL, FIELD_WORDS(dimensions)),
	FIELD(ROWS, groups_row, rows, "Costliest first, at most as many as --top.",
	      .of = &group_fields, FIELD_NR(groups_row, nr)),
	FIELD(OBJECT, groups_row, left_out, NULL, .of = &left_out_fields),
};

const struct fields groups_fields =
	FIELDS("groups", "Logical faults added up by where they belong.", groups_row, groups_rows);

json_t *json_groups(const struct view *view)
{
	const struct report_groups *groups = &view->run->groups;
	const struct groups_row row = {
		groups->by,
		groups->rows,
		view->nr_rows,
		{ groups->nr - view->nr_rows, view->left_out.faults, view->left_out.total_ns },
	};

	return groups->wanted ? json_fields(&groups_fields, view->run, &row) : json_null();
}
