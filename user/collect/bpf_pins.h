/* SPDX-License-Identifier: GPL-2.0-only */
/* The folder PFSTAT_PIN_DIR, where bpftool finds maps and programs of a running pfdrive. */
#ifndef PFSTAT_USER_BPF_PINS_H
#define PFSTAT_USER_BPF_PINS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;

/* Is there a bpf file system to pin in? */
bool pins_possible(void);
/*
 * Makes the folder and pins everything in it; on failure it removes both. A keeper process removes
 * the folder when this process is killed: it notices that `keeper` is closed.
 */
int pins_make(struct bpf_object *object, int *keeper);
/* Removes the folder with all pins, and lets the keeper exit. */
void pins_remove(int keeper);
/*
 * The keeper's program: waits until its standard input is closed, then removes the folder if it
 * still has that inode. -errno in the caller if it cannot fork.
 */
int pins_keep(uint64_t inode);

#endif
