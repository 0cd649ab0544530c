/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts about a machine that decide whether pfstat works there, and how well. */
#ifndef PFSTAT_USER_DOCTOR_FACTS_H
#define PFSTAT_USER_DOCTOR_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "system/perf.h"
#include "util/why.h"

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

#endif
