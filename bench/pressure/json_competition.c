// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory pressure in JSON: the figures without and with competitors, and which process evicted
 * whose pages.
 */
#include "bench/pressure/competition.h"
#include "bench/pressure/json_competition.h"
#include "util/json_value.h"

static json_t *competition_figures_of(const struct competition_side *side)
{
	json_t *object = json_object();
	unsigned int i;

	for (i = 0; i < NR_COMPETITION_FIGURES; i++)
		object =
			value_with(object, competition_names[i].key, value_known(side->figures[i]));
	return object;
}

static json_t *competition_class_of(const struct competition_side *side, enum fault_class class)
{
	return json_pack("{so so}", "count", value_known(side->faults[class]), "major",
			 value_known(side->major[class]));
}

static json_t *competition_faults_of(const struct competition_side *side)
{
	json_t *object = json_object();
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		object = value_with(object, fault_class_name(class),
				    competition_class_of(side, class));
	return object;
}

static json_t *competition_side_of(const struct competition_side *side)
{
	return json_pack("{so so}", "figures", competition_figures_of(side), "faults",
			 competition_faults_of(side));
}

static json_t *competitor_of(const struct competitor_figures *figures)
{
	return json_pack("{so so so}", "minflt", value_known(figures->minflt), "majflt",
			 value_known(figures->majflt), "accesses", value_count(figures->accesses));
}

static json_t *competitors_of(const struct competition *competition)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < competition->nr; i++)
		array = value_appended(array, competitor_of(&competition->competitors[i]));
	return array;
}

static json_t *competition_row_of(const struct swap_matrix *matrix, unsigned int evictor)
{
	json_t *object = json_object();
	unsigned int owner;
	char name[32];

	for (owner = 0; owner < NR_SWAP_ROLES; owner++)
		if (swap_role_owns(matrix, owner))
			object = value_with(object, swap_role_name(owner, name, sizeof(name)),
					    value_count(matrix->pages[evictor][owner]));
	return object;
}

static json_t *competition_rows_of(const struct swap_matrix *matrix)
{
	json_t *object = json_object();
	unsigned int evictor;
	char name[32];

	for (evictor = 0; evictor < NR_SWAP_ROLES; evictor++)
		if (swap_role_evicts(matrix, evictor))
			object = value_with(object, swap_role_name(evictor, name, sizeof(name)),
					    competition_row_of(matrix, evictor));
	return object;
}

static json_t *matrix_of(const struct competition *competition)
{
	const struct swap_matrix *matrix = &competition->matrix;

	if (!competition->have_matrix)
		return json_null();
	return json_pack("{so so so so}", "evicted_by", competition_rows_of(matrix), "read",
			 value_count(matrix->read), "not_seen", value_count(matrix->not_seen),
			 "evicted", value_count(matrix->evicted));
}

json_t *json_competition(const struct report_study *study)
{
	const struct competition *competition = (const struct competition *)study;

	return json_pack("{so ss so so so so so so}", "bytes", value_count(competition->bytes),
			 "order", competition->random ? "random" : "sequential", "memory_limit",
			 value_known(competition->limit), "swap_bytes",
			 value_count(competition->swap_bytes), "alone",
			 competition_side_of(&competition->alone), "with",
			 competition_side_of(&competition->with), "competitors",
			 competitors_of(competition), "swapped", matrix_of(competition));
}

json_t *json_competition_figures(const struct report_study *study)
{
	const struct competition *competition = (const struct competition *)study;

	return json_pack("{so so}", "alone", competition_side_of(&competition->alone), "with",
			 competition_side_of(&competition->with));
}
