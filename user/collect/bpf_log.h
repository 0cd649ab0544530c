/* SPDX-License-Identifier: GPL-2.0-only */
/* The last libbpf messages, including the verifier's log, for bug reports. */
#ifndef PFSTAT_USER_BPF_LOG_H
#define PFSTAT_USER_BPF_LOG_H

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>

#define BPF_LOG_BYTES (64U << 10)

/* For libbpf_set_print(): keeps a message. Debug messages are kept only with PFDRIVE_DEBUG=1. */
int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list arguments);
/* With PFDRIVE_DEBUG=1 in the environment: prints the messages that are kept, and forgets them. */
void bpf_log_dump(FILE *out);

#endif
