// SPDX-License-Identifier: GPL-2.0-only
/* A unit test compares the shape with Documentation/formats/pfdrive-study-rss.schema.json. */
#include "bench/rss/rss_steps.h"
#include "util/json_value.h"

static json_t *rss_json_fault_of(const struct rss_fault *fault)
{
	return json_pack("{so so so so sb sb}", "class", value_text(fault_class_name(fault->class)),
			 "page", value_known(fault->pgoff), "ns", value_count(fault->ns),
			 "attempts", value_count(fault->attempts), "major", fault->major, "solved",
			 fault->solved);
}

static json_t *rss_json_faults_of(const struct rss_step *step)
{
	json_t *faults = json_array();
	unsigned int i;

	for (i = 0; i < step->nr_faults && i < RSS_FAULTS_MAX; i++)
		faults = value_appended(faults, rss_json_fault_of(&step->faults[i]));
	return faults;
}

static json_t *rss_json_step_of(const struct rss_step *step)
{
	static const char *const kinds[] = {
		[RSS_START] = "start", [RSS_MMAP] = "mmap", [RSS_TOUCH] = "byte"
	};
	const struct rss_marks *marks = &step->marks;

	return json_pack("{ss so so so so so so so}", "step", kinds[step->kind], "offset",
			 value_count_if(step->kind == RSS_TOUCH, step->offset), "elapsed_ns",
			 value_count(marks->end_ns - marks->start_ns), "virtual_bytes",
			 value_count(marks->after.virtual_bytes), "resident_bytes",
			 value_count(marks->after.resident_bytes), "mapped_pages",
			 value_count(marks->after.mapped_pages), "nr_faults",
			 value_count(step->nr_faults), "faults", rss_json_faults_of(step));
}

/* 0: turned off. */
static json_t *rss_json_around_of(const struct environment *e)
{
	if (!e->fault_around)
		return value_count(0);
	return value_count_if(e->fault_around_bytes, e->fault_around_bytes);
}

static json_t *rss_json_environment_of(const struct environment *e)
{
	return json_pack("{so so so so so so so so so so so}", "pfdrive", value_text(e->version),
			 "source", value_text(e->source), "kernel", value_text(e->kernel),
			 "virtualization", value_text(e->virtualization), "file",
			 value_text(e->file), "file_bytes", value_count(e->file_bytes),
			 "filesystem", value_text(e->filesystem), "device", value_text(e->device),
			 "readahead_bytes",
			 value_count_if(e->readahead_bytes >= 0, e->readahead_bytes), "cache",
			 value_text(e->cache), "fault_around_bytes", rss_json_around_of(e));
}

int rss_json(FILE *out, const struct rss_report *report)
{
	json_t *steps = json_array(), *object;
	unsigned int i;

	for (i = 0; i < report->nr_steps; i++)
		steps = value_appended(steps, rss_json_step_of(&report->steps[i]));
	object = json_pack("{so so so so}", "environment",
			   rss_json_environment_of(&report->environment), "bpf_missing",
			   value_text(report->bpf_missing), "lost", value_count(report->lost),
			   "steps", steps);
	return value_print(out, object);
}
