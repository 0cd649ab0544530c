// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "report/live_state.h"

static void take_classes(struct live_snapshot *snapshot, const struct analysis *analysis)
{
	struct fault_figures figures;
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		analysis_faults(analysis, class, &figures);
		snapshot->faults[class] = figures.count;
		snapshot->total_ns[class] = figures.whole.total_ns;
		snapshot->major += figures.major;
	}
}

int live_update(struct live *live, const struct analysis *analysis,
		const struct live_counters *counters, uint64_t now_ns)
{
	struct live_snapshot snapshot = { .counters = *counters };
	enum group_by by;
	int err = 0;

	take_classes(&snapshot, analysis);
	for (by = 0; by < NR_GROUP_BY && !err; by++)
		if (live->by & 1 << by)
			err = analysis_groups(analysis, by, &snapshot.groups[by],
					      &snapshot.nr[by]);
	if (!err)
		err = live_take(live, &snapshot, now_ns);
	for (by = 0; by < NR_GROUP_BY; by++)
		free(snapshot.groups[by]);
	return err;
}
