/* SPDX-License-Identifier: GPL-2.0-only */
/* The reasons for which eBPF cannot measure, with their remedies. */
#ifndef PFSTAT_USER_BPF_EXPLAIN_H
#define PFSTAT_USER_BPF_EXPLAIN_H

#include <stddef.h>

#include "util/why.h"

/* A machine property that forbids eBPF, as one clause. NULL: none is known. */
const char *bpf_explain_missing(void);
/* Stores one clause for a step ("load the eBPF programs") that failed with a negative errno. */
void bpf_explain(const char *step, int err, struct why *why);

#endif
