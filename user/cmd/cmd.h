/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subcommands of pfdrive. subcommands.c has the table of them: main() dispatches on it, and
 * `pfdrive --help' prints it.
 */
#ifndef PFSTAT_USER_CMD_H
#define PFSTAT_USER_CMD_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum subcommand_group {
	COMMAND_MEASURE,
	COMMAND_EXPLAIN,
	COMMAND_STUDY,
	COMMAND_LOOK,
	COMMAND_HIDDEN, /* not for users: --help does not list it */
	NR_COMMAND_GROUPS
};

struct subcommand {
	const char *name; /* one word, or two: "study io" */
	char *title;	  /* argv[0] of run(): "pfdrive study io" */
	enum subcommand_group group;
	const char *summary;		   /* one line */
	int (*run)(int argc, char **argv); /* returns the exit status */
	const struct argp *argp;	   /* NULL: it has no options */
};

extern const struct subcommand subcommands[];
extern const size_t nr_subcommands;

/*
 * The whole command line: runs the command that it names, or `pfdrive run' if it begins with
 * an option or a file. Returns the exit status.
 */
int command_line(int argc, char **argv);
/* The command that argv begins with; *words is the number of its words. NULL: none. */
const struct subcommand *subcommand_find(int argc, char *const *argv, int *words);
/* Prints all of them in groups. Returns the exit status, as the next one does. */
int subcommand_print_list(void);
/* Reports a word that is not a command or, with @or_file, a file; names the nearest command. */
int subcommand_unknown(const char *word, bool or_file);

/* Their arguments; bench_argp is in bench/bench_options.h. */
extern const struct argp advise_argp, check_argp, compare_argp, doctor_argp, export_argp, maps_argp,
	prefetch_argp, record_argp, replay_argp, report_argp, run_argp, study_io_argp,
	study_pressure_argp, study_rss_argp, top_argp;

int cmd_advise(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_helper(int argc, char **argv);
int cmd_maps(int argc, char **argv);
int cmd_prefetch(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_study_io(int argc, char **argv);
int cmd_study_pressure(int argc, char **argv);
int cmd_study_rss(int argc, char **argv);
int cmd_top(int argc, char **argv);

#endif
