/* SPDX-License-Identifier: GPL-2.0-only */
/* The folder PFSTAT_PIN_DIR, where bpftool finds maps and programs of a running pfdrive. */
#ifndef PFSTAT_USER_PINS_H
#define PFSTAT_USER_PINS_H

#include <stdbool.h>

struct bpf_object;

/* Is there a bpf file system to pin in? */
bool pins_possible(void);
/* Makes the folder and pins everything in it. On failure nothing stays. */
int pins_make(struct bpf_object *object);
/* Removes the folder with what is in it, ours or a killed program's. */
void pins_remove(void);

#endif
