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
 * Makes the folder and pins everything in it. On failure nothing stays. A process
 * of its own removes it when this one is killed: `keeper` is its end of the line.
 */
int pins_make(struct bpf_object *object, int *keeper);
/* Removes the folder with what is in it, and lets the keeper go. */
void pins_remove(int keeper);
/*
 * What the keeper does, in a process of its own: waits until its standard input is closed, and
 * removes the folder then, if it still has that inode. -errno in the caller if it cannot fork.
 */
int pins_keep(uint64_t inode);

#endif
