// SPDX-License-Identifier: GPL-2.0-only
/* The verdict in JSON: the shares, the places with most of the time, and the causes by weight. */
#include "print/json/json_parts.h"
#include "util/json_value.h"

static json_t *place_of(const struct group *group, const struct report *run)
{
	if (!group)
		return json_null();
	return json_pack("{so so}", "name", value_text(group->name), "share",
			 value_real(view_share(group->total_ns, run->faults.all.whole.total_ns)));
}

static json_t *code_of(const struct verdict_code *code, const struct report *run)
{
	if (!code->name[0])
		return json_null();
	return json_pack("{so so}", "name", value_text(code->name), "share",
			 value_real(view_share(code->total_ns, run->faults.all.whole.total_ns)));
}

static json_t *cause_of(const struct verdict_cause *cause)
{
	return json_pack("{ss sb so so so}", "rule", cause->rule, "certain", cause->certain,
			 "weight", value_real(cause->weight), "text", value_text(cause->text),
			 "remedy", value_text(cause->remedy));
}

json_t *json_verdict(const struct view *view)
{
	const struct verdict *verdict = &view->verdict;
	const bool any = view->run->faults.all.count;
	json_t *causes;
	size_t i;

	if (!verdict->known)
		return json_null();
	causes = json_array();
	for (i = 0; i < verdict->nr_causes; i++)
		causes = value_appended(causes, cause_of(&verdict->causes[i]));
	return json_pack("{so so so so sb so so so so so}", "wall_ns",
			 value_count(verdict->wall_ns), "busy_ns", value_count(verdict->busy_ns),
			 "share", value_real(verdict->share), "cpu_share",
			 value_real(verdict->cpu_share), "at_least", verdict->at_least, "class",
			 any ? json_pack("{so so}", "name",
					 value_text(fault_class_name(verdict->class)), "share",
					 value_real(verdict->class_share)) :
			       json_null(),
			 "place", place_of(verdict->place, view->run), "thread",
			 place_of(verdict->thread, view->run), "code",
			 code_of(&verdict->code, view->run), "causes", causes);
}
