// SPDX-License-Identifier: GPL-2.0-only
/* touch_order FILE ORDER: reads a byte of each page of FILE whose number is in ORDER, in order. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE 4096

int main(int argc, char **argv)
{
	FILE *order = argc == 3 ? fopen(argv[2], "r") : NULL;
	const int fd = order ? open(argv[1], O_RDONLY) : -1;
	size_t count = 0, page, *pages;
	const unsigned char *map;
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		err(1, "cannot open the files");
	map = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	pages = calloc(status.st_size / PAGE, sizeof(*pages));
	if (map == MAP_FAILED || !pages)
		err(1, "cannot map the file");
	while (count < (size_t)status.st_size / PAGE && fscanf(order, "%zu", &page) == 1)
		pages[count++] = page;
	for (size_t i = 0; i < count; i++)
		(void)((const volatile unsigned char *)map)[pages[i] * PAGE];
	return 0;
}
