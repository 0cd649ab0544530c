/* SPDX-License-Identifier: GPL-2.0-only */
/* The folder PFSTAT_PIN_DIR, where bpftool finds maps and programs of a running pfdrive. */
#ifndef PFSTAT_USER_BPF_PINS_H
#define PFSTAT_USER_BPF_PINS_H

#include <stdbool.h>

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
/* The keeper's program: argv[1] is the inode of the folder. */
int cmd_unpin(int argc, char **argv);

#endif
