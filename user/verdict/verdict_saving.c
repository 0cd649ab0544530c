// SPDX-License-Identifier: GPL-2.0-only
/* The predicted saving of a remedy that is a setting. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict/verdict_rules.h"

static const char *const setting_names[] = PREDICTED_SETTING_NAMES;

/* Fewer faults that read more may take longer, so a saving without times needs both. */
static bool is_less(const struct predicted_faults *than, const struct predicted_faults *faults)
{
	if (!faults->known)
		return false;
	if (faults->timed && than->timed)
		return faults->total_ns + faults->error_ns + than->error_ns < than->total_ns;
	return faults->major < than->major && faults->read_bytes <= than->read_bytes;
}

static bool find_saving(struct verdict_saving *saving, const struct predicted_faults *predicted,
			unsigned int settings)
{
	unsigned int i;

	*saving = (struct verdict_saving){ .recorded = predicted[PREDICTED_RECORDED],
					   .changed = predicted[PREDICTED_RECORDED] };
	for (i = 0; i < NR_PREDICTED_SETTINGS && saving->recorded.known; i++) {
		if (!(settings & 1U << i) || !is_less(&saving->recorded, &predicted[i]) ||
		    (saving->known && !is_less(&saving->changed, &predicted[i])))
			continue;
		saving->known = true;
		saving->setting = i;
		saving->changed = predicted[i];
	}
	return saving->known;
}

void verdict_state_saving(struct verdict_cause *cause, const struct report *run)
{
	struct verdict_saving *saving = &cause->saving;
	const struct predicted_faults *recorded = &saving->recorded, *changed = &saving->changed;
	char saved[VERDICT_SPAN], error[VERDICT_SPAN], all[VERDICT_SPAN];
	size_t length = strlen(cause->remedy);

	if (!cause->certain || !find_saving(saving, run->predicted, cause->settings))
		return;
	length += snprintf(cause->remedy + length, sizeof(cause->remedy) - length,
			   " Predicted with %s, for a cold start: %" PRIu64 " instead of %" PRIu64
			   " major faults",
			   setting_names[saving->setting], changed->major, recorded->major);
	if (length >= sizeof(cause->remedy))
		return;
	if (!changed->timed || !recorded->timed)
		snprintf(cause->remedy + length, sizeof(cause->remedy) - length, ".");
	else
		snprintf(cause->remedy + length, sizeof(cause->remedy) - length,
			 ", which saves %s +- %s of %s in faults.",
			 verdict_span(saved, recorded->total_ns - changed->total_ns),
			 verdict_span(error, recorded->error_ns + changed->error_ns),
			 verdict_span(all, recorded->total_ns));
}
