/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figure colours that colour-blind readers can tell apart (M. Okabe, K. Ito, "Color Universal
 * Design", 2008; wine, olive: P. Tol, "Colour Schemes", 2021): 0xRRGGBB on light paper.
 */
#ifndef PFSTAT_USER_COLOUR_H
#define PFSTAT_USER_COLOUR_H

#define COLOUR_BLACK	  0x000000
#define COLOUR_BLUE	  0x0072b2
#define COLOUR_SKY	  0x56b4e9
#define COLOUR_GREEN	  0x009e73
#define COLOUR_ORANGE	  0xe69f00
#define COLOUR_VERMILLION 0xd55e00
#define COLOUR_PURPLE	  0xcc79a7
#define COLOUR_YELLOW	  0xf0e442
#define COLOUR_WINE	  0x882255
#define COLOUR_ROSE	  0xcc6677
#define COLOUR_OLIVE	  0x999933
#define COLOUR_GREY	  0x8c8c8c
#define COLOUR_GRID	  0xc0c0c0

#endif
