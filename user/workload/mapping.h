/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory under measurement, and its settings: a shared or private file mapping, or anonymous
 * memory. It is mapped readable, and also writable if something will be stored.
 */
#ifndef PFSTAT_USER_MAPPING_H
#define PFSTAT_USER_MAPPING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/environment.h"
#include "system/kernel_settings.h"

/* Settings for a mapping: advice, read-ahead, populate. */

#define POLICY_ADVICE_NAMES "normal, random, sequential, willneed"

struct policy {
	int advice;		 /* MADV_*, -1 for no advice */
	int64_t readahead_bytes; /* for the file when it is opened, -1 for the device's */
	bool populate;		 /* all pages, before the first access */
};

#define POLICY_NONE ((struct policy){ .advice = -1, .readahead_bytes = -1 })

/* Parses one of POLICY_ADVICE_NAMES, or returns -EINVAL. */
int policy_parse_advice(struct policy *policy, const char *text);

/*
 * A file copies the read-ahead setting when it is opened (f_ra, file_ra_state_init()), mostly from
 * the device. So change the device's setting only for that moment: begin, open the file, end. A
 * lock admits one program at a time.
 * @bytes: a multiple of the page size. -EOPNOTSUPP: the file system has no separate setting.
 */
struct policy_readahead {
	char path[READAHEAD_SETTING_PATH];
	char before[32];
	int fd; /* for the setting, locked, -1 if there is nothing to restore */
};

#define POLICY_READAHEAD_NONE ((struct policy_readahead){ .fd = -1 })

int policy_readahead_begin(struct policy_readahead *readahead, const char *file, int64_t bytes);
/* Returns 0, or the reason why the old setting could not be restored. */
int policy_readahead_end(struct policy_readahead *readahead);

enum mapping_kind {
	MAPPING_SHARED,	 /* stores go to the file */
	MAPPING_PRIVATE, /* stores make copies, and the file does not change */
	MAPPING_ANON,	 /* no file */
	NR_MAPPING_KINDS
};

#define MAPPING_NAMES { "shared", "private", "anon" }

struct mapping {
	int fd; /* -1: none */
	enum mapping_kind kind;
	bool writable; /* mapped with PROT_WRITE */
	uint64_t bytes;
	uint64_t pages;
	dev_t dev;
	ino_t inode;
	void *at;		      /* hint for mmap(2), NULL for any address */
	const volatile uint8_t *data; /* NULL: not mapped */
};

#define MAPPING_NONE ((struct mapping){ .fd = -1 })

/* A larger mapping might not fit into 47 bits of address space along with everything else. */
#define MAPPING_MAX_BYTES (1ULL << 46)

/*
 * Opens a file, with @write if stores will reach it. Returns 0, -EISDIR, -EMEDIUMTYPE (not a
 * regular file), -ENODATA (empty), -EFBIG (more than MAPPING_MAX_BYTES), or an error from open(2).
 */
int mapping_open(struct mapping *mapping, const char *path, bool write);
/* Takes over an open file, with the same errors. Owns @fd from now on, also on failure. */
int mapping_take(struct mapping *mapping, int fd);
/* Anonymous memory with this size, without a file. */
void mapping_anon(struct mapping *mapping, uint64_t bytes);

/* Stores the machine, and the file or the anonymous memory, in @environment. */
void mapping_describe(const struct mapping *mapping, const char *path,
		      struct environment *environment);

/* Maps the memory according to the kind, without advice. Touches no page. */
int mapping_map(struct mapping *mapping);
/* Applies the advice in @policy, and populates if requested, until @stop is set. */
int mapping_advise(const struct mapping *mapping, const struct policy *policy,
		   const volatile sig_atomic_t *stop);
/*
 * Like MAP_POPULATE, but for an already hooked mapping: reads and maps every page. Writable private
 * and anonymous mappings get their own pages at once. Pages in a writable shared mapping are mapped
 * read-only, so the first store to a page still calls the file. Returns early after @stop.
 */
int mapping_populate(const struct mapping *mapping, const volatile sig_atomic_t *stop);
/* Fills the mapping with memset(3), as in the study. Returns early after @stop. */
void mapping_fill(const struct mapping *mapping, const volatile sig_atomic_t *stop);
/* Calls msync(2) with MS_SYNC, to put a shared mapping's dirty pages on disk. */
int mapping_sync(const struct mapping *mapping);
/*
 * Runs the three functions above once, so that faults on their code and data are not
 * counted in a run.
 */
void mapping_warm_up(void);
void mapping_unmap(struct mapping *mapping);
void mapping_close(struct mapping *mapping);

/* The likely reason for a SIGBUS in the mapped file, as a clause. */
const char *mapping_loss(const struct mapping *mapping);

#endif
