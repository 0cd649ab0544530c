/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock a keeper (bpf_pins.h) shares until all the measurement's programs are detached. The lock
 * needs no eBPF: a measurement without eBPF waits for it too.
 */
#ifndef PFSTAT_USER_PINS_LOCK_H
#define PFSTAT_USER_PINS_LOCK_H

#define BPFFS "/sys/fs/bpf"

/*
 * Takes the lock, like flock(2). Returns a descriptor that holds it, or, after a signal, does not.
 * -1: the bpf file system's folder cannot be opened.
 */
int pins_lock(int operation);
/*
 * Returns when no program from an earlier measurement is attached any more: it would add to the
 * cost of each fault. The caller holds the fault source or the claim, so all keepers have been
 * released.
 */
void pins_lock_await_detached(void);

#endif
