// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server copies the tensors from a model file into private memory: model_load FILE [read]. The
 * file is mapped, so the copy waits in a fault for each small read. read: one read() for each
 * tensor.
 */
#include "complaint.h"

#define TENSOR (4 * MIB)

static __attribute__((noinline)) void copy_tensor(char *to, const char *from)
{
	memcpy(to, from, TENSOR);
}

int main(int argc, char **argv)
{
	const char *path = word_of(argc, argv, 1, "model");
	const bool by_call = is_word(argc, argv, 2, "read");
	const int fd = open(path, O_RDONLY);
	char *tensor = map_memory(TENSOR, MAP_PRIVATE | MAP_POPULATE);
	size_t bytes, at;
	char *model = map_file(path, PROT_READ, MAP_SHARED, &bytes);

	for (at = 0; at + TENSOR <= bytes; at += TENSOR) {
		if (!by_call)
			copy_tensor(tensor, model + at);
		else if (pread(fd, tensor, TENSOR, at) != (ssize_t)TENSOR)
			err(1, "%s", path);
	}
	printf("%zu MiB loaded\n", bytes / MIB);
	return 0;
}
