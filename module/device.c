// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the module's files in /dev/pfstat, as character devices. Lockdown closes debugfs, which
 * also belongs to root. The minor numbers are the pfstat_files indices, followed by the CPUs'
 * rings.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/cdev.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <pfstat/control.h>

#include "access.h"
#include "compat.h"
#include "device.h"
#include "files.h"
#include "ring.h"

static dev_t numbers; /* the first */
static struct cdev devices;

static unsigned int device_index(const struct inode *inode)
{
	return iminor(inode) - MINOR(numbers);
}

static unsigned int ring_device_cpu(const struct file *file)
{
	return device_index(file_inode(file)) - PFSTAT_NR_FILES;
}

static int ring_device_mmap(struct file *file, struct vm_area_struct *vma)
{
	return pfstat_ring_mmap(ring_device_cpu(file), vma, pfstat_access_may_see_frames(file));
}

static __poll_t ring_device_poll(struct file *file, poll_table *wait)
{
	return pfstat_ring_poll(ring_device_cpu(file), file, wait);
}

static const struct file_operations ring_fops = {
	.owner = THIS_MODULE,
	.open = pfstat_file_open,
	.mmap = ring_device_mmap,
	.poll = ring_device_poll,
	.llseek = noop_llseek,
};

/* A number in the range may belong to an impossible CPU, and mknod(1) reaches it. */
static const struct file_operations *device_operations(unsigned int index)
{
	if (index < PFSTAT_NR_FILES)
		return pfstat_files[index].fops;
	return cpu_possible(index - PFSTAT_NR_FILES) ? &ring_fops : NULL;
}

static int device_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fops = fops_get(device_operations(device_index(inode)));

	if (!fops)
		return -ENXIO;
	replace_fops(file, fops);
	return fops->open(inode, file);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.llseek = noop_llseek,
};

/* Each open checks the capability, so the mode need not. udev takes it from here, too. */
static char *device_node(compat_devnode_device_t *device, umode_t *mode)
{
	const unsigned int index = MINOR(device->devt) - MINOR(numbers);

	if (mode)
		*mode = index < PFSTAT_NR_FILES ? pfstat_files[index].mode : 0666;
	return NULL; /* the device's name, with / for ! */
}

static struct class device_class = {
	.name = "pfstat",
	.devnode = device_node,
};

static int device_make(unsigned int index, const char *folder, const char *name)
{
	const struct device *made = device_create(&device_class, NULL, numbers + index, NULL,
						  "pfstat!%s%s", folder, name);

	if (!IS_ERR(made))
		return 0;
	pr_err("cannot make the device %s: %ld\n", name, PTR_ERR(made));
	return PTR_ERR(made);
}

static int device_make_all(void)
{
	unsigned int i;
	char name[16];
	int cpu, err = 0;

	for (i = 0; !err && i < PFSTAT_NR_FILES; i++)
		err = device_make(i, "", pfstat_files[i].name);
	for_each_possible_cpu(cpu) {
		if (err)
			break;
		snprintf(name, sizeof(name), "cpu%d", cpu);
		err = device_make(PFSTAT_NR_FILES + cpu, PFSTAT_DIR_RING "!", name);
	}
	return err;
}

static unsigned int device_count(void)
{
	return PFSTAT_NR_FILES + nr_cpu_ids;
}

static void device_remove_all(void)
{
	unsigned int i;

	for (i = 0; i < device_count(); i++)
		device_destroy(&device_class, numbers + i);
}

/* The nodes come last, so each can be opened from the first moment. */
int pfstat_device_init(void)
{
	int err;

	err = alloc_chrdev_region(&numbers, 0, device_count(), "pfstat");
	if (err)
		return err;
	cdev_init(&devices, &device_fops);
	devices.owner = THIS_MODULE;
	err = cdev_add(&devices, numbers, device_count());
	if (err)
		goto free_numbers;
	err = class_register(&device_class);
	if (err)
		goto remove_devices;
	err = device_make_all();
	if (err)
		goto remove_nodes;
	return 0;

remove_nodes:
	device_remove_all();
	class_unregister(&device_class);
remove_devices:
	cdev_del(&devices);
free_numbers:
	unregister_chrdev_region(numbers, device_count());
	return err;
}

/* No file is open: each held the module. */
void pfstat_device_exit(void)
{
	device_remove_all();
	class_unregister(&device_class);
	cdev_del(&devices);
	unregister_chrdev_region(numbers, device_count());
}
