/* SPDX-License-Identifier: GPL-2.0-only */
/* The reasons for which eBPF cannot measure, with their remedies. */
#ifndef PFSTAT_USER_BPF_EXPLAIN_H
#define PFSTAT_USER_BPF_EXPLAIN_H

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "util/why.h"

/* The last libbpf messages, including the verifier's log, for bug reports. */

#define BPF_LOG_BYTES (64U << 10)

/* For libbpf_set_print(): keeps a message. Debug messages are kept only with PFDRIVE_DEBUG=1. */
int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list arguments);
/* With PFDRIVE_DEBUG=1 in the environment: prints the messages that are kept, and forgets them. */
void bpf_log_dump(FILE *out);

/* A machine property that forbids eBPF, as one clause. NULL: none is known. */
const char *bpf_explain_missing(void);
/* Stores one clause for a step ("load the eBPF programs") that failed with a negative errno. */
void bpf_explain(const char *step, int err, struct why *why);

#endif
