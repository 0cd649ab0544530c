/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock that a keeper (bpf_pins.h) shares until all programs of its measurement are detached. It
 * needs no eBPF: a measurement without eBPF waits for it too.
 */
#ifndef PFSTAT_USER_PINS_LOCK_H
#define PFSTAT_USER_PINS_LOCK_H

#define BPFFS "/sys/fs/bpf"

/*
 * Takes the lock, as flock(2). A descriptor that holds it, or, after a signal, does not. -1: the
 * folder of the bpf file system cannot be opened.
 */
int pins_lock(int operation);
/*
 * Returns when no program of an earlier measurement is attached any more: it would make each fault
 * dearer. The caller holds the fault source or the claim, so that all keepers have been released.
 */
void pins_lock_await_detached(void);

#endif
