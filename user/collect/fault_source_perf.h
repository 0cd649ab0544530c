/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fault source that needs neither the module nor eBPF, and for the user's own processes no
 * privilege: perf's software events. Each fault is whole, from the exception to the end. This
 * source does not see disk requests, the classes of calls, get_user_pages(), and, at
 * kernel.perf_event_paranoid 2, faults in system calls and the reasons for sleeps. Root with tracefs
 * also gets reclaim.
 */
#ifndef PFSTAT_USER_FAULT_SOURCE_PERF_H
#define PFSTAT_USER_FAULT_SOURCE_PERF_H

#include "collect/fault_source.h"

extern const struct fault_source_ops fault_source_perf;

#endif
