/* SPDX-License-Identifier: GPL-2.0-only */
/* The folder PFSTAT_PIN_DIR, where bpftool finds a running pfdrive's maps and programs. */
#ifndef PFSTAT_USER_BPF_PINS_H
#define PFSTAT_USER_BPF_PINS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_object;
struct bpf_object_skeleton;

/* Is there a bpf file system to pin in? */
bool bpf_pins_possible(void);
/*
 * One process at a time measures with eBPF, with any fault source. Returns a descriptor that holds
 * the claim. -EBUSY: another process has it. Or another negative errno.
 */
int bpf_pins_claim(void);
struct bpf_pins {
	int keeper;	/* a socket, or -1 if there is no folder */
	pid_t starting; /* the keeper's first process, 0 once reaped */
};

#define PINS_NONE ((struct bpf_pins){ .keeper = -1 })

/*
 * Makes the folder and starts a keeper process, which removes the folder when this process is
 * killed. The caller goes on while the keeper starts. 0 or a negative errno. On error both are
 * gone.
 */
int bpf_pins_open(struct bpf_pins *pins);
/* Pins everything, once the keeper is ready. 0 or a negative errno. */
int bpf_pins_make(struct bpf_pins *pins, struct bpf_object *object);
/* Removes the folder with all pins. */
void bpf_pins_remove(const struct bpf_pins *pins);
/*
 * The kernel detaches a program when the last descriptor for its link is closed. For each function
 * that had a program it waits a tenth of a second for all tasks. So the keeper gets copies of the
 * descriptors, and closes them when it is released. If it does not get them, this process waits.
 */
void bpf_pins_give_links(const struct bpf_pins *pins, const struct bpf_object_skeleton *skeleton);
/* Lets the keeper exit. */
void bpf_pins_close(struct bpf_pins *pins);
/*
 * The keeper's program: waits until standard input is closed, then removes the folder if it still
 * has that inode. -errno in the caller if it cannot fork.
 */
int bpf_pins_keep(uint64_t inode);

#endif
