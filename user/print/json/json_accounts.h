/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_JSON_ACCOUNTS_H
#define PFSTAT_USER_JSON_ACCOUNTS_H

#include <jansson.h>

#include "report/view.h"

json_t *json_usage(const struct usage *usage);
/* Has a member for each step a drive can have, null if the run did not make the step. */
json_t *json_steps(const struct report_drive *drive);
json_t *json_ledger(const struct ledger *ledger);
json_t *json_cost(const struct report *run);

#endif
