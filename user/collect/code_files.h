/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files whose code processes execute, opened while the processes live: below the process's own
 * root, to find programs in containers, chroots and other mount namespaces, and early, so a later
 * replacement is not taken for the file.
 */
#ifndef PFSTAT_USER_CODE_FILES_H
#define PFSTAT_USER_CODE_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "model/item.h"

struct code_files;

/* NULL: no memory. */
struct code_files *code_files_new(void);
void code_files_free(struct code_files *files);

/* A process has mapped a file, perhaps to execute it. If this fails, the code has no names. */
void code_files_see(struct code_files *files, const struct item_map *map);

/* A process executes a program, or has done so before it was watched. */
void code_files_see_process(struct code_files *files, pid_t pid);

/*
 * The process's /tmp/perf-PID.map, below the process's root and by its own number, see jit_map.h.
 * -ENODATA: the process was not seen, or the file is not its own, or too large.
 */
int code_files_open_perf_map(const struct code_files *files, pid_t pid);

/*
 * The file mapped by this path and inode, opened for reading. The caller closes it. -ENODATA: it
 * was not found when it was mapped, or it was written since then. files: NULL: the file at the path
 * below pfdrive's own root, if it has the inode (0: any).
 */
int code_files_open(const struct code_files *files, const char *path, uint64_t inode);

#endif
