// SPDX-License-Identifier: GPL-2.0-only
/*
 * A torrent client stores 16 KiB pieces in random order: torrent FILE PIECES [pwrite]. The file is
 * new and sparse. With a mapping each page is a fault for which the file system finds no block.
 * With pwrite() no page faults.
 */
#include "complaint.h"

#define PIECE (4 * PAGE)

static __attribute__((noinline)) void store_piece(char *file, size_t at, const char *piece)
{
	memcpy(file + at, piece, PIECE);
}

int main(int argc, char **argv)
{
	const char *path = word_of(argc, argv, 1, "movie");
	const unsigned long pieces = number_of(argc, argv, 2, 1000);
	const bool by_call = is_word(argc, argv, 3, "pwrite");
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	static char piece[PIECE];
	char *file = NULL;
	unsigned long i;
	size_t bytes;

	if (fd < 0 || ftruncate(fd, pieces * PIECE))
		err(1, "%s", path);
	if (!by_call)
		file = map_file(path, PROT_READ | PROT_WRITE, MAP_SHARED, &bytes);
	for (i = 0; i < pieces; i++) {
		const size_t at = i * 769 % pieces * PIECE;

		memset(piece, (int)i + 1, PIECE);
		if (!by_call)
			store_piece(file, at, piece);
		else if (pwrite(fd, piece, PIECE, at) != (ssize_t)PIECE)
			err(1, "pwrite");
	}
	printf("%lu pieces\n", pieces);
	return 0;
}
