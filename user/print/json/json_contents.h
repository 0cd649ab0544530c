/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_JSON_CONTENTS_H
#define PFSTAT_USER_JSON_CONTENTS_H

#include <jansson.h>

#include "report/view.h"

/* Returns a JSON null if not all faults were counted, and for perf. NULL: no memory. */
json_t *json_contents(const struct report *run);

#endif
