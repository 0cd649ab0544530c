// SPDX-License-Identifier: GPL-2.0-only
/* The only place defining the event in trace.h. */
#define CREATE_TRACE_POINTS
#include "trace.h"
