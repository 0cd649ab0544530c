/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's binary trees. */
#ifndef PFSTAT_BPF_RB_TREE_H
#define PFSTAT_BPF_RB_TREE_H

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
} __attribute__((preserve_access_index));

struct rb_root {
	struct rb_node *rb_node;
} __attribute__((preserve_access_index));

#endif
