/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pfdrive subcommands. command_table.c, beside main(), has the table: subcommands_run()
 * dispatches on it, `pfdrive --help' prints it, and the shell completion is made from it.
 */
#ifndef PFSTAT_USER_CMD_H
#define PFSTAT_USER_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util/subcommand.h"

extern const struct subcommand *const subcommands[];
extern const size_t nr_subcommands;

/* STATUS_OK, or STATUS_FAILED after a message. */
int program_start(void);
/*
 * The whole command line: runs the command that it names, or `pfdrive run' if it begins with
 * an option or a file. Returns the exit status.
 */
int subcommands_run(int argc, char **argv);

/* Commands without a header of their own. */
extern const struct subcommand help_command, helper_command, maps_command, record_command,
	report_command, what_if_command;
/* The studies. They are in pfbench, beside this program: the wheel for Python does not have it. */
bool pfbench_is_there(void);
extern const struct subcommand bench_command, study_io_command, study_pressure_command,
	study_rss_command;

/* Prints the script that completes pfdrive's command line. false: not bash or zsh. */
bool completion_print(FILE *out, const char *shell, const struct subcommand *const *rows,
		      size_t nr);

#endif
