// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk FILE PATTERN SEED: maps FILE shared and reads one byte of each of its pages, each page once,
 * and prints the major and the minor faults that these reads took, as getrusage(2) counts them:
 *
 *	MAJOR MINOR
 *
 * PATTERN is sequential, stride:PAGES (page 0, PAGES, 2 * PAGES, …, then 1, PAGES + 1, …), or
 * random, a permutation that SEED determines.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	/* TODO */
	fprintf(stderr, "walk is not done yet\n");
	return 1;
}
