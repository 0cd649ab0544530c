// SPDX-License-Identifier: GPL-2.0-only
/* The one place that defines the event of trace.h. */
#define CREATE_TRACE_POINTS
#include "trace.h"
