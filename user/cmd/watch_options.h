/* SPDX-License-Identifier: GPL-2.0-only */
/* What is to be watched, as the command line says; shared by record and top. */
#ifndef PFSTAT_USER_WATCH_OPTIONS_H
#define PFSTAT_USER_WATCH_OPTIONS_H

#include <argp.h>

#include "run/watch.h"

/* bpf and fault_around on, no target. */
void watch_options_init(struct watch_options *options);

/*
 * A parser to be a child of a command's own, whose child_inputs[] is the struct
 * watch_options. What follows the options, or --, is the command. It refuses
 * what cannot be; ends the program with STATUS_USAGE then.
 */
extern const struct argp watch_argp;

#endif
