/* SPDX-License-Identifier: GPL-2.0-only */
/* The pfbench commands. */
#ifndef PFSTAT_BENCH_PFBENCH_H
#define PFSTAT_BENCH_PFBENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "util/subcommand.h"

extern const struct subcommand faults_command, io_command, pressure_command, rss_command,
	suite_command;
extern const struct subcommand *const bench_commands[]; /* ends with NULL */

/* A command's word in the pfbench command line: "io" for pfdrive's "study io". */
const char *bench_command_word(const struct subcommand *command);

#define BENCH_MAX_COMMANDS 64

/*
 * The pfdrive commands, in which the commands run by pfbench also have their options. Returns the
 * number of commands.
 */
size_t bench_commands_all(const struct subcommand *all[BENCH_MAX_COMMANDS]);

/* Makes only the accesses in a memory pressure study, see drive_accesses(). */
int pressure_accesses(int argc, char **argv, bool bare);
/* A competing process: BYTES random|sequential NUMBER PARENT USER. */
int pressure_compete(int argc, char **argv);

#endif
