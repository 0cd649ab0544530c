/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_REQUIRED_HOOKS_H
#define PFSTAT_USER_REQUIRED_HOOKS_H

#include <stdint.h>

#include <pfstat/event.h>

/* Returns the optional hooks without which the event cannot exist, as 1 << enum bpf_hook. */
uint32_t required_hooks(const struct pfstat_event *event);

#endif
