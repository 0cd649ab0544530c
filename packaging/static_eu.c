// SPDX-License-Identifier: GPL-2.0-only
/*
 * The search trees that the static libelf and libdw of elfutils 0.192 (Debian 13) call and do not
 * contain: the C library's trees behind one pointer. Weak, since other versions contain them. No
 * locks: Debian builds elfutils without, and pfdrive reads a file in one thread.
 */
#include <search.h>
#include <stddef.h>

#define WEAK __attribute__((weak))

struct static_eu_tree {
	void *root; /* a lock may follow */
};

typedef int (*static_eu_compare)(const void *left, const void *right);

void eu_search_tree_init(struct static_eu_tree *tree);
void eu_search_tree_fini(struct static_eu_tree *tree, void (*free_node)(void *node));
void *eu_tsearch(const void *key, struct static_eu_tree *tree, static_eu_compare compare);
void *eu_tfind(const void *key, struct static_eu_tree *tree, static_eu_compare compare);
void *eu_tdelete(const void *key, struct static_eu_tree *tree, static_eu_compare compare);
void eu_tdestroy(struct static_eu_tree *tree, void (*free_node)(void *node));

WEAK void eu_search_tree_init(struct static_eu_tree *tree)
{
	tree->root = NULL;
}

WEAK void eu_search_tree_fini(struct static_eu_tree *tree, void (*free_node)(void *node))
{
	eu_tdestroy(tree, free_node);
}

WEAK void *eu_tsearch(const void *key, struct static_eu_tree *tree, static_eu_compare compare)
{
	return tsearch(key, &tree->root, compare);
}

WEAK void *eu_tfind(const void *key, struct static_eu_tree *tree, static_eu_compare compare)
{
	return tfind(key, &tree->root, compare);
}

WEAK void *eu_tdelete(const void *key, struct static_eu_tree *tree, static_eu_compare compare)
{
	return tdelete(key, &tree->root, compare);
}

WEAK void eu_tdestroy(struct static_eu_tree *tree, void (*free_node)(void *node))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}
