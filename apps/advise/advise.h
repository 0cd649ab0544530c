/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfdrive advise: the recorded accesses, the policies to compare, their replays in rounds, and the
 * ranking.
 */
#ifndef PFSTAT_APPS_ADVISE_H
#define PFSTAT_APPS_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "advise/access_plan.h"
#include "predict/what_if.h"
#include "util/grid.h"
#include "util/hash.h"
#include "util/json_value.h"
#include "util/subcommand.h"
#include "util/why.h"

/* A recording's files, mappings and the accesses of all threads. */

struct accessed_file {
	char *path;
	uint64_t inode;
	bool executable; /* one of the mappings may be executed: code, not data */
	bool cold;	 /* the recording read some pages from the device */
	bool advised;	 /* candidates change the advice for these mappings */
	uint64_t faults, fault_ns;
	uint64_t stores;	  /* among these faults */
	uint64_t pages;		  /* 1 + the highest faulting page */
	const char *left_out;	  /* the reason, one clause, or NULL if it is replayed */
	bool changed;		  /* modified after the recording */
	char setting[128];	  /* the read-ahead setting, "" if none is exported */
	uint64_t readahead_bytes; /* 0: not known */
};

struct accessed_mapping {
	uint64_t address, bytes;
	uint64_t pgoff;
	uint32_t pid;
	uint32_t file; /* index */
	bool shared;
	bool inherited;	    /* by fork(2), or the rest after another mapping cut it in two */
	bool before;	    /* it existed before the recording */
	int initial_advice; /* MADV_RANDOM or MADV_SEQUENTIAL before the recording, else -1 */
	bool no_advice;	    /* it existed before, with unknown advice */
	bool advised;	    /* in the recording */
	bool used;	    /* a fault in it is replayed */
};

struct recorded_accesses {
	struct accessed_file *files;
	size_t nr_files, file_capacity;
	struct accessed_mapping *mappings;
	size_t nr_mappings, mapping_capacity;
	struct access_plan plan;
	struct hash by_place;  /* 1 + index of a process's latest mapping at an address */
	struct hash by_name;   /* 1 + file index, by path and inode */
	struct hash by_inode;  /* 1 + index of the first file with an inode */
	struct spaces *spaces; /* the current mappings, while the recording is read */

	int64_t started_s; /* 0: not known */
	uint64_t start_ns, end_ns;
	uint64_t lost, events_lost; /* COUNT_NA: not known */
	bool damaged;		    /* a message told it */
	bool have_bpf, have_advice;
	bool by_perf;	   /* lost events are lost accesses */
	bool fault_around; /* it was on */
	/* Possibly mapped by fault-around beside a fault's own. COUNT_NA: not known, with perf. */
	uint64_t around_pages;
	bool populated;			/* the program called MADV_POPULATE_READ */
	uint64_t advices;		/* recorded madvise(2) calls */
	uint64_t unplaced, unplaced_ns; /* faults on files in no known mapping */
	/* File faults that are not replayed: stores to mapped pages, and failed faults. */
	uint64_t not_repeated, not_repeated_ns;
};

/*
 * Reads the recording. Returns STATUS_OK, or the exit status after a message or for a signal. A
 * damaged recording is used up to the damage, after a message.
 */
int recorded_accesses_read(struct recorded_accesses *accesses, const char *recording);
void recorded_accesses_exit(struct recorded_accesses *accesses);
/* The file, or NULL if it has no mapping. */
const struct accessed_file *recorded_accesses_find(const struct recorded_accesses *accesses,
						   uint64_t inode, const char *path);

/* The policies that pfdrive advise compares, and their ranking by predicted saving. */

/* The policies that pfdrive advise compares, and how a program or a machine is given each. */

#define CANDIDATES_MAX 20
#define CANDIDATE_NAME 32
#define CANDIDATE_KEEP (-1) /* advice: the recorded one, a setting: as it is */

struct candidate {
	char name[CANDIDATE_NAME]; /* "random", "read-ahead 512K" */
	int advice;		   /* MADV_*, or CANDIDATE_KEEP */
	int64_t readahead_bytes;
	int64_t around_bytes;
	/* It maps fewer pages than the recorded policy, so the program may fault more often. */
	bool maps_less;
	char untried[160]; /* the reason, one clause, or "" if it can be tried */
};

/* The machine's settings, 0 if not known. */
struct candidate_settings {
	uint64_t readahead_bytes; /* for the costliest advised file */
	uint64_t around_bytes;
};

/* The first one is the control. Returns the number. */
size_t candidates_make(struct candidate *candidates, const struct candidate_settings *settings);

/*
 * The call or command that applies the candidate. @file: an advised file, @setting: path to the
 * file's read-ahead setting. "": nothing needs changing.
 */
void candidate_remedy(const struct candidate *candidate, const char *file, const char *setting,
		      char *text, size_t size);

/*
 * Ranks candidates by predicted saving. Pure.
 *
 * A round replays each candidate once. saving = the control's replayed time - the candidate's, in
 * the same round, so slow machine drift cancels. Times are trimmed means over the rounds. The
 * intervals of all candidates contain their true savings together with 95 % probability
 * (Bonferroni).
 */

/* One replay. UINT64_MAX: not known. */
struct repetition_figures {
	uint64_t elapsed_ns; /* from releasing the threads to the last one's end */
	uint64_t fault_ns;   /* all threads' touches and advice */
	uint64_t minor, major;
	uint64_t read_bytes;
	uint64_t refused; /* failed madvise(2) calls */
	int refused_errno;
};

struct ranking_row {
	size_t candidate;
	bool at_most;	      /* the saving is an upper bound, see candidate.maps_less */
	double saving_ns;     /* mean over the rounds */
	double half_width_ns; /* NAN: one round */
	double predicted_ns;  /* recorded time - (recorded conditions' replay - this) */
	/* Means over the rounds, and the last madvise(2) error. NAN: not known. */
	double elapsed_ns, fault_ns, minor, major, read_bytes;
	uint64_t refused;
	int refused_errno;
};

struct ranking {
	struct ranking_row *rows; /* largest saving first, including the control */
	size_t nr;
	double anchor_ns; /* recorded conditions' replay */
	size_t best;	  /* index of a row whose saving exceeds the interval, nr if none */
};

/*
 * @figures: [round * nr_candidates + candidate], where candidate 0 is the control
 * @tried, @at_most: one for each candidate
 * @anchor: the candidate repeating the recorded conditions, without a row unless it is 0
 * Returns 0 or -ENOMEM.
 */
int ranking_make(struct ranking *ranking, const struct repetition_figures *figures,
		 size_t nr_candidates, size_t rounds, const bool *tried, const bool *at_most,
		 size_t anchor, uint64_t recorded_ns);
void ranking_exit(struct ranking *ranking);

/* pfdrive advise: all replays of a recording, in rounds with every candidate, and their ranking. */

struct advise_options {
	const char *recording;
	const char *path; /* only this file is advised, or all data files (NULL) */
	unsigned int rounds;
};

struct advise {
	struct advise_options options;
	struct recorded_accesses accesses;
	struct candidate candidates[CANDIDATES_MAX];
	bool tried[CANDIDATES_MAX], at_most[CANDIDATES_MAX];
	size_t nr_candidates;
	size_t anchor;		  /* the candidate repeating the recorded conditions */
	const char *anchor_lacks; /* reason why these cannot be repeated, or NULL */
	struct repetition_figures *figures;
	struct ranking ranking;
	struct what_if *model; /* rows: as recorded, then the candidates. NULL: none */
	struct why no_model;   /* then the reason, one clause */
};

/* Returns STATUS_OK, or the exit status after a message or for a signal. */
int advise_run(struct advise *advise, const struct advise_options *options);
void advise_exit(struct advise *advise);

extern const struct subcommand replay_command, advise_command;

/* The recorded files as they are now, and their page cache before a replay. */

/*
 * Marks the files that cannot be replayed, with the reason, and the files candidates advise: the
 * file @path, or all files not executed by a mapping (NULL). Then makes the plan's steps.
 * Returns STATUS_OK, or the exit status after a message.
 */
int advise_files_check(struct recorded_accesses *accesses, const char *path);

/* The advised file with the longest fault time, or NULL if there is none. */
const struct accessed_file *advise_files_main(const struct recorded_accesses *accesses);

/* Replays an access plan once under a candidate, in a child process. */

/*
 * The child has a thread for each recorded one, and a mapping for each recorded mapping. A device's
 * read-ahead setting is changed only while the child opens a file on this device.
 * Returns 0, a positive signal number, or a negative errno with a clause in why: the operation and
 * its object.
 */
int repetition_run(const struct recorded_accesses *accesses, const struct candidate *candidate,
		   struct repetition_figures *figures, struct why *why);

/* What the model predicts of the candidates, without a replay. */

/*
 * Predicts all candidates. @around_bytes: the machine's fault-around, 0 if not known. Returns
 * STATUS_OK also if there is no model, or the exit status after a message or for a signal.
 */
int advise_model_make(struct advise *advise, uint64_t around_bytes);
void advise_model_exit(struct advise *advise);
/* A candidate's cells: major faults, the time saved from the control, and its error. */
void advise_model_cells(struct grid *grid, const struct advise *advise, size_t candidate);
/* Adds the same as members to an object. Returns the object, or NULL. */
json_t *advise_model_add_json(const struct advise *advise, size_t candidate, json_t *json);
/* What the model leaves out, or cannot predict, and why. */
void advise_model_print(FILE *out, const struct advise *advise);

/* Prints the ranking as a table. Returns 0 or a negative errno. */
int advise_print_table(FILE *out, const struct advise *advise);

#endif
