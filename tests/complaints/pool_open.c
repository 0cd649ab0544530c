// SPDX-License-Identifier: GPL-2.0-only
/*
 * A store on persistent memory opens a pool: pool_open FILE. It stores into each page. A fault can
 * map 2 MiB if the file's blocks are aligned on the device. Otherwise each 4 KiB is a fault.
 */
#include "complaint.h"

#define FIXED ((char *)0x100000000000UL)

int main(int argc, char **argv)
{
	const char *path = word_of(argc, argv, 1, "pool");
	const int fd = open(path, O_RDWR);
	volatile char *pool;
	struct stat status;
	off_t at;

	if (fd < 0 || fstat(fd, &status))
		err(1, "%s", path);
	pool = mmap(FIXED, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC,
		    fd, 0);
	if (pool == MAP_FAILED)
		err(1, "cannot map %s", path);
	for (at = 0; at < status.st_size; at += (off_t)PAGE)
		pool[at]++;
	puts("opened");
	return 0;
}
