// SPDX-License-Identifier: GPL-2.0-only
/* Reads the BTF of the running kernel to detect per-VMA locks, without a version number. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "system/vma_lock.h"

static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const struct btf_member *members = btf_members(type);
	unsigned int i;

	for (i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, members[i].name_off), name))
			return true;
	return false;
}

/* The flags of faults also exist without per-VMA locks; the sequence number does not. */
int vma_lock_exists(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id, ret;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "vm_area_struct", BTF_KIND_STRUCT);
	ret = id < 0 ? id : has_member(btf, btf__type_by_id(btf, id), "vm_lock_seq");
	btf__free(btf);
	return ret;
}
