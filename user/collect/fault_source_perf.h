/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fault source that needs neither the module nor eBPF, and for the user's own processes no
 * privilege: perf's software events. Each fault is whole, from its exception to its end. Not seen
 * are requests to disks, the reasons of sleeps, the classes of calls, get_user_pages(), and, at
 * kernel.perf_event_paranoid 2, faults in system calls.
 */
#ifndef PFSTAT_USER_FAULT_SOURCE_PERF_H
#define PFSTAT_USER_FAULT_SOURCE_PERF_H

#include "collect/fault_source.h"

extern const struct fault_source_ops fault_source_perf;

#endif
