/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive doctor: facts about a machine, the checks that judge them, and the answer. */
#ifndef PFSTAT_APPS_DOCTOR_H
#define PFSTAT_APPS_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "system/perf.h"
#include "util/subcommand.h"
#include "util/why.h"

/* The facts about a machine that decide whether pfstat works there, and how well. */

enum kernel_option {
	OPTION_UNKNOWN, /* the kernel configuration cannot be read */
	OPTION_OFF,
	OPTION_ON,
};

/* First the options that checks test, then those printed only for bug reports. */
enum {
	CONFIG_KPROBES,
	CONFIG_KRETPROBES,
	CONFIG_TRACEPOINTS,
	CONFIG_DEBUG_FS,
	NR_NEEDED_OPTIONS,
	CONFIG_PREEMPT_RT = NR_NEEDED_OPTIONS,
	CONFIG_BPF_SYSCALL,
	CONFIG_DEBUG_INFO_BTF,
	CONFIG_FUNCTION_TRACER,
	CONFIG_LRU_GEN,
	CONFIG_MEMCG,
	CONFIG_MODULE_SIG_FORCE,
	CONFIG_PER_VMA_LOCK,
	CONFIG_PREEMPT_DYNAMIC,
	CONFIG_SECURITY_LOCKDOWN_LSM,
	CONFIG_TRANSPARENT_HUGEPAGE,
	NR_KERNEL_OPTIONS
};

extern const char *const kernel_option_names[NR_KERNEL_OPTIONS];

enum package_manager {
	MANAGER_UNKNOWN,
	MANAGER_APT,
	MANAGER_DNF,
	MANAGER_PACMAN,
	MANAGER_ZYPPER,
};

enum secure_boot {
	SECURE_BOOT_UNKNOWN,
	SECURE_BOOT_OFF, /* or the machine was started without UEFI */
	SECURE_BOOT_ON,
};

struct doctor_attempt {
	int err;	/* 0: it works */
	struct why why; /* one clause, with the remedy */
};

/* What doctor_try_sources() found as this user. */
struct doctor_tries {
	bool made; /* not for another machine (--root) */
	struct doctor_attempt module;
	struct doctor_attempt bpf;
	int bpf_call;  /* syscall_filter_try_bpf() */
	bool filtered; /* this process has a system call filter */
	struct perf_trial perf;
};

/* An empty string means "not available". */
struct doctor_facts {
	char distribution[128]; /* PRETTY_NAME */
	enum package_manager manager;
	char release[128]; /* uname -r */
	char architecture[32];
	enum kernel_option options[NR_KERNEL_OPTIONS];
	bool headers;	   /* for this release */
	char lockdown[32]; /* "none", "integrity" or "confidentiality" */
	bool can_lock_down;
	enum secure_boot secure_boot;
	unsigned int machine_keys; /* enrolled keys of the machine's owner, as far as visible */
	bool without_bpf;	   /* pfdrive was built so; of the caller, not of a file */
	bool btf;
	bool bpffs;
	/* The module */
	bool loaded;
	char loaded_version[32];
	char installed[PATH_MAX]; /* for this release */
	char built[PATH_MAX];	  /* beside pfdrive */
	char built_for[128];	  /* the module's release */
	bool built_signed;
	bool must_be_signed; /* module.sig_enforce */
	char hold_faults[4]; /* "Y" or "N", a loaded module's parameter */
	/* This process */
	bool root; /* effective user 0 */
	uint64_t capabilities;
	bool user_namespace, pid_namespace; /* other than the initial one */
	bool container;			    /* podman or docker */
	int perf_event_paranoid;	    /* INT_MAX: not available */
	bool debugfs;
	bool debugfs_readable;
	bool cgroup2;
	bool cgroup2_memory; /* the cgroup's memory controller */
	bool swap;
	uint64_t page_size;
	char path[PATH_MAX]; /* "": none was given */
	int path_error;	     /* negative errno */
	char filesystem[32]; /* for path */
	char device[64];
	bool kallsyms;
	bool tracefs;	   /* this user can read the tracepoints of reclaim */
	int kptr_restrict; /* INT_MAX: not available */
	char clocksource[32];
	bool tsc_available;
	struct doctor_tries tries;
};

/*
 * Reads the facts from the files below @root ("" for the running system). @path: whose file system
 * to describe, or NULL if none. Tries nothing. Returns 0, or a negative errno if @root has no
 * kernel release: it is not a system's root, or /proc is not mounted there.
 */
int doctor_facts_read(struct doctor_facts *facts, const char *root, const char *path);

/* The pfdrive doctor checks: each takes the facts and returns one line. */

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* a part of pfstat does not work, or costs more */
	DOCTOR_MISSING, /* pfdrive cannot measure */
	NR_DOCTOR_STATES
};

struct doctor_line {
	enum doctor_state state;
	char text[512]; /* the finding, and its meaning for pfstat */
	char fix[512];	/* a command, "" if none */
};

struct doctor_check {
	const char *name;
	void (*check)(const struct doctor_facts *facts, struct doctor_line *line);
};

extern const struct doctor_check doctor_checks[];
extern const size_t nr_doctor_checks;

/* Runs one check. If a check does not apply (no path was given), the line has no text. */
void doctor_check_run(const struct doctor_check *check, const struct doctor_facts *facts,
		      struct doctor_line *line);

/* The first line of pfdrive doctor: with what pfdrive measures here, and what root would gain. */

#define DOCTOR_ANSWER_SIZE 1024

/* Stores one sentence without a full stop. */
void doctor_answer(const struct doctor_facts *facts, char *text, size_t size);

/* Prints the result of pfdrive doctor as text. */

/*
 * Prints the answer, then a line for each check. Returns how many checks found something missing.
 */
unsigned int doctor_print_lines(FILE *out, const struct doctor_facts *facts);
/* Prints the versions, the machine and the kernel's options, for a bug report. */
void doctor_print_machine(FILE *out, const struct doctor_facts *facts);

extern const struct subcommand doctor_command;

/* What each source of faults shows, as a table. 0 or -ENOMEM. */
int doctor_print_sources(FILE *out);

#endif
