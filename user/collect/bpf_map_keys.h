/* SPDX-License-Identifier: GPL-2.0-only */
/* The keys of a BPF map, one after the other. */
#ifndef PFSTAT_USER_BPF_MAP_KEYS_H
#define PFSTAT_USER_BPF_MAP_KEYS_H

#include <bpf/bpf.h>
#include <errno.h>

/* The key behind `before` (NULL: the first). 1, 0 when there is none, or a negative errno. */
static inline int map_next_key(int fd, const void *before, void *key)
{
	int err = bpf_map_get_next_key(fd, before, key);

	if (err == -ENOENT)
		return 0;
	return err ? err : 1;
}

#endif
