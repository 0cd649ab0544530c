# SPDX-License-Identifier: GPL-2.0-only
# pfstat: where the time of page faults goes. `make help` lists the targets.

BUILD	?= build
KDIR	?= /lib/modules/$(shell uname -r)/build
CLANG	?= $(firstword $(foreach c,clang clang-19 clang-14,$(shell command -v $(c))))
BPFTOOL	?= $(firstword $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool))
CC	?= gcc
V	?= 0
# The only place that states the version is the file VERSION.
version	:= $(shell cat VERSION)
Q	:= $(if $(filter 1,$(V)),,@)
say	= @printf '  %-7s %s\n' '$(1)' '$(2)'

help:
	@sed -n 's/^#: //p' $(MAKEFILE_LIST)

#: make demo     the studies in VMs, needs nothing installed (first run: some minutes)
#: make check    unit tests, pages in a browser, then the tests in VMs on 6.1 and 6.12 [CHECKS="unit vm"]
#: make          the module, the eBPF programs and pfdrive, for this machine's kernel [UNTRIED=yes]
#: make module, pfdrive    one of them
#: make policy   a competition for memory on a kernel that evicts pages in use, and on one that does not
#: make fuzz     bytes at random as recordings, events, commands, options: FUZZ_SECONDS=60 each
#: make lint     style and static checks; names the tools that are not installed
#: make check-unit, check-browser, check-vm [KERNELS=6.12] [TESTS=file]    the parts of check
#: make check-long    tests that take five seconds each, or a minute, in VMs; check leaves them out
#: make check-recipes    the commands of recipes that need more packages, in a lab that has these
#: make check-debug [TESTS=file]    on a kernel with KASAN, lockdep, kmemleak: half an hour to two
#:               (and 10 to 40 minutes for that kernel, once)
#: make check-injection    every step of pfdrive, every allocation of the module fails once
#: make fuzz-debugfs [OPERATIONS=1000000] [KERNEL=6.12] [SEED=…]    the module's files, in a VM
#: make stress [MINUTES=10] [KERNEL=6.12] [SEED=N] [LOADS=N]    everything that may break it, in a VM
#: make stress-same [KERNEL=6.12] [NAMES=fault]    stress-ng's and the kernel's own tests, with hooks and without
#: make check-kernels [KERNELS=…] [TESTS=file]    the VM's tests on each of Debian's kernels (hours)
#: make bpf-stats  what each eBPF program costs the verifier and the machine, on every kernel
#: make bench [KERNELS=6.12] [ROWS="pfstat graph"]    instructions that pfstat and its peers add to a fault, in VMs (15 minutes)
#: make bench-check    the same, and fails when pfstat's are 5 % over the committed figures
#: make bench-native [OPTIONS="--rows pfstat"]    the same as time, on this machine; asks before
#: make bench-scale   what pfstat adds with 1 to 4 threads on CPUs of their own, in a VM
#: make bench-loop   instructions of pfdrive's access loop against a bare one's
#: make bench-record [MILLIONS=10]    what recording faults in the VM loses, and needs in memory
#: make bench-report [MILLIONS=10]    how fast recordings are explained, in how much memory
#: make docs      the documents as HTML, in build/docs/html
#: make man       the man pages, if rst2man is there
#: make completion    what bash and zsh complete of pfdrive's command line, in build/completion
#: make install, uninstall [PREFIX=/usr/local] [DESTDIR=root]    all of it, with man pages and completion
#: make install-user, install-module    a part of it
#: make clean     removes what was built
#: BUILD=dir  KDIR=kernel's build dir  CLANG=… BPFTOOL=… other tools  V=1 shows the commands
.DEFAULT_GOAL := all
all: module pfdrive
.PHONY: help all guest module pfdrive demo policy check check-unit check-vm check-long check-debug check-kernels fuzz lint bpf-stats clean
.DELETE_ON_ERROR:

include tools/make/module.mk
include tools/make/user.mk
include tools/make/check.mk
include tools/make/fuzz.mk
include tools/make/bench.mk
include tools/make/stress.mk
include tools/make/install.mk
include tools/make/docs.mk

# The programs that the lab builds for its guests, including those that tests run there.
guest: all $(guest_programs)

demo:
	$(Q)tools/demo

policy:
	$(Q)tools/policy

clean:
	$(Q)rm -rf $(BUILD)
