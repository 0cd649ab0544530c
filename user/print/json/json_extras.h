/* SPDX-License-Identifier: GPL-2.0-only */
/* The extras as members in a run's JSON. NULL if there is no memory. */
#ifndef PFSTAT_USER_JSON_EXTRAS_H
#define PFSTAT_USER_JSON_EXTRAS_H

#include <jansson.h>

#include "analyze/accounts/rusage_check.h"
#include "report/view.h"

json_t *json_both_usages(const struct usage_line *lines);
/* Returns a JSON null without eBPF's counts. */
json_t *json_syscall_totals(const struct report *run);
/* Returns a JSON null if not requested. */
json_t *json_counters(const struct hw_counts *counts);
json_t *json_simulation(const struct cache_simulation *simulation);
json_t *json_maps(const struct map_list *maps);

/* The members in the two usages that are numbers and vary between runs. */
json_t *json_both_usages_figures(const struct usage_line *lines);
json_t *json_counter_figures(const struct hw_counts *counts);

#endif
