/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of pfbench. */
#ifndef PFSTAT_BENCH_PFBENCH_H
#define PFSTAT_BENCH_PFBENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "util/subcommand.h"

extern const struct subcommand faults_command, io_command, pressure_command, rss_command,
	suite_command;
extern const struct subcommand *const bench_commands[]; /* ends with NULL */

/* The word of a command in pfbench's command line: "io" for "study io" of pfdrive. */
const char *bench_command_word(const struct subcommand *command);

#define BENCH_MAX_COMMANDS 64

/*
 * The commands of pfdrive, where those that pfbench runs have their options, too. Returns their
 * number.
 */
size_t bench_commands_all(const struct subcommand *all[BENCH_MAX_COMMANDS]);

/* The accesses of a study of memory pressure alone, see drive_accesses(). */
int pressure_accesses(int argc, char **argv, bool bare);
/* A competing process: BYTES random|sequential NUMBER PARENT USER. */
int pressure_compete(int argc, char **argv);

#endif
