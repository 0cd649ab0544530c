/* SPDX-License-Identifier: GPL-2.0-only */
/* The system calls shaping mappings: their names, arguments, and advice texts. */
#ifndef PFSTAT_USER_CALL_KIND_H
#define PFSTAT_USER_CALL_KIND_H

#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

const char *call_kind_name(enum pfstat_call_kind kind);
/* Returns the advice or the flags passed to the call, or 0 for calls that have none. */
uint64_t call_kind_detail(const struct pfstat_call *call);
/* Returns the bytes in the range passed to the call, or 0 for calls that have none. */
uint64_t call_kind_bytes(const struct pfstat_call *call);
/* Returns an address in the range, or 0 if the call has none, or failed. */
uint64_t call_kind_address(const struct pfstat_call *call);
/*
 * The detail as text: "MADV_RANDOM", "MAP_SHARED|MAP_POPULATE", "0x11": bits without a name are a
 * number. "" for calls that have none.
 */
void call_kind_print_detail(enum pfstat_call_kind kind, uint64_t detail, char *text, size_t size);

#endif
