// SPDX-License-Identifier: GPL-2.0-only
/* Does a class's ->devnode() take a device that it may change? Yes: 6.1. No: 6.2 and later. */
#include <linux/device.h>

char *probe(const struct class *class, struct device *device, umode_t *mode);
char *probe(const struct class *class, struct device *device, umode_t *mode)
{
	char *(*devnode)(struct device *, umode_t *) = class->devnode;

	return devnode(device, mode);
}
