// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm_guest PAGES: a virtual machine of one CPU, in real mode. Its program writes to one byte of
 * each of PAGES pages, which the process has not touched, and halts. For x86-64.
 */
#ifndef __x86_64__
int main(void)
{
	return 77;
}
#else
#include <err.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define CODE	     0x1000UL
#define FIRST	     0x20000UL /* of the pages */
#define MEMORY_BYTES 0xa0000UL
#define PAGE	     4096UL

/* From here on in 16-bit code: es counts the pages, cx those that remain. */
static const uint8_t code[] = {
	0xb8, 0x00, 0x20,		    /* mov ax, FIRST / 16 */
	0xb9, 0x00, 0x00,		    /* mov cx, PAGES */
	0x8e, 0xc0,			    /* next: mov es, ax */
	0x26, 0xc6, 0x06, 0x00, 0x00, 0x01, /* mov byte es:[0], 1 */
	0x05, 0x00, 0x01,		    /* add ax, PAGE / 16 */
	0xe2, 0xf3,			    /* loop next */
	0xf4,				    /* hlt */
};

#define CODE_PAGES 4 /* the operand of mov cx */

static void start_at_code(int cpu)
{
	struct kvm_regs registers = { .rip = CODE, .rflags = 2 };
	struct kvm_sregs system;

	if (ioctl(cpu, KVM_GET_SREGS, &system))
		err(1, "KVM_GET_SREGS");
	system.cs.base = 0;
	system.cs.selector = 0;
	if (ioctl(cpu, KVM_SET_SREGS, &system) || ioctl(cpu, KVM_SET_REGS, &registers))
		err(1, "KVM_SET_REGS");
}

static char *make_memory(int machine, unsigned long pages)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY_BYTES };
	char *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	madvise(memory, MEMORY_BYTES, MADV_NOHUGEPAGE);
	memcpy(memory + CODE, code, sizeof(code));
	memory[CODE + CODE_PAGES] = pages;
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region))
		err(1, "KVM_SET_USER_MEMORY_REGION");
	return memory;
}

int main(int argc, char **argv)
{
	const unsigned long pages = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), machine, cpu;
	struct kvm_run *run;
	unsigned long i;
	char *memory;

	if (!pages || pages > (MEMORY_BYTES - FIRST) / PAGE)
		errx(2, "usage: kvm_guest 1..%lu", (MEMORY_BYTES - FIRST) / PAGE);
	machine = kvm < 0 ? -1 : ioctl(kvm, KVM_CREATE_VM, 0UL);
	if (machine < 0)
		err(1, "/dev/kvm");
	memory = make_memory(machine, pages);
	cpu = ioctl(machine, KVM_CREATE_VCPU, 0UL);
	if (cpu < 0)
		err(1, "KVM_CREATE_VCPU");
	run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0UL), PROT_READ | PROT_WRITE,
		   MAP_SHARED, cpu, 0);
	if (run == MAP_FAILED)
		err(1, "mmap of the CPU");
	start_at_code(cpu);
	if (ioctl(cpu, KVM_RUN, 0UL))
		err(1, "KVM_RUN");
	if (run->exit_reason != KVM_EXIT_HLT)
		errx(1, "exit reason %u", run->exit_reason);
	for (i = 0; i < pages; i++)
		if (memory[FIRST + i * PAGE] != 1)
			errx(1, "page %lu was not written", i);
	printf("%lu pages\n", pages);
	return 0;
}
#endif
