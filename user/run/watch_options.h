/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for watching a program, shared by record and top. */
#ifndef PFSTAT_USER_WATCH_OPTIONS_H
#define PFSTAT_USER_WATCH_OPTIONS_H

#include <argp.h>

#include "run/watch.h"

/* bpf and fault_around on, no target. */
void watch_options_init(struct watch_options *options);

/*
 * A child of a command's argp. Its input is a struct watch_options. The words after the options, or
 * after --, are the command. It exits with STATUS_USAGE if the options contradict each other.
 */
extern const struct argp watch_argp;

#endif
