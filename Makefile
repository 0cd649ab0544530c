# SPDX-License-Identifier: GPL-2.0-only
# pfstat: where page fault time goes. `make help` lists the targets.

BUILD	?= build
KDIR	?= /lib/modules/$(shell uname -r)/build
CLANG	?= $(firstword $(foreach c,clang clang-19 clang-14,$(shell command -v $(c))))
BPFTOOL	?= $(firstword $(shell PATH=$$PATH:/usr/sbin:/sbin command -v bpftool))
CC	?= gcc
V	?= 0
comma	:= ,
# The only place that states the version is the file VERSION.
version	:= $(shell cat VERSION)
Q	:= $(if $(filter 1,$(V)),,@)
say	= @printf '  %-7s %s\n' '$(1)' '$(2)'

help:
	@sed -n 's/^#: //p' $(MAKEFILE_LIST)

help-all:
	@sed -n 's/^#+ //p' $(MAKEFILE_LIST)

#: make [UNTRIED=yes]     the module, the eBPF programs and pfdrive
#: make module, pfdrive   only the module, only pfdrive
#: make demo              the studies in VMs; needs no installation
#: make install, uninstall [PREFIX=/usr/local] [DESTDIR=root]   with man pages
#: make dist, deb, rpm, arch    a source archive, and packages of distributions
#: make docs, man         the documents as HTML, the man pages
#: make unit [TESTS=test_bins]  unit tests: all, or those of one file, in seconds
#: make accept            writes what pfdrive prints now into the golden files
#: make check-native      pfdrive with the events of perf, on this machine
#: make check-vm [KERNELS=6.12] [TESTS=file]   the tests in VMs
#: make smoke             each capability once, in one VM: three minutes
#: make check [CHECKS="unit vm"]   all that a change must pass (tools/check --help)
#: make lint              style and static checks
#: make fuzz              fuzzes recordings, events, commands and options
#: make stress [MINUTES=10] [KERNEL=6.12]   a stress test in a VM
#: make bench [KERNELS=6.12]   instructions that pfstat adds to a fault, in VMs
#: make clean             removes the built files
#: make help-all          all targets and their options
#: BUILD=dir  KDIR=dir of the kernel  CLANG=… BPFTOOL=…  V=1 prints the commands
#+ make demo     the studies in VMs; needs no installation (first run: some minutes)
#+ make check    unit tests, pfdrive on this machine, pages in a browser, the tests in VMs on 6.1 and 6.12, some on arm64 [CHECKS="unit vm"]
#+ make smoke    each capability once, in one VM: three minutes
#+ make          the module, the eBPF programs and pfdrive, for this machine's kernel [UNTRIED=yes]
#+ make module, pfdrive    only the module, only pfdrive
#+ make policy   the pressure study on a kernel that evicts pages in use, and on one that keeps them
#+ make fuzz     fuzzes recordings, events, commands and options, FUZZ_SECONDS=60 for each
#+ make lint     style and static checks; lists tools that are not installed
#+ make demo, smoke, check-vm, check-long, bench, stress, lab-image ARCH=arm64    the same in emulated VMs of arm64
#+ make unit [TESTS=test_bins]    unit tests, without sanitizers: all, or those of one file, in seconds
#+ make accept    writes what pfdrive prints now into the golden files of the unit tests (tests/unit/golden)
#+ make check-unit, check-native, check-python, check-browser, check-vm [KERNELS=6.12] [TESTS=file]    the parts of check
#+ make complaints [CASES="native again"]    how often the verdict is right: records the programs of tests/complaints here
#+               and in a VM (half an hour), and writes the table in Documentation/user/accuracy.rst
#+ make what-if-table [CASES="native 6.12"]    compares what-if with cold runs here and in VMs (an hour), and
#+               writes the tables in Documentation/user/what_if.rst
#+ make check-long    tests that take five seconds each, or a minute, in VMs; make check omits them
#+ make check-cross    pfdrive and its unit tests for riscv64 and ppc64le, in an emulator (10 minutes)
#+ make check-recipes    the commands of recipes that need more packages, in a lab that has these
#+ make check-debug [TESTS=file]    on a kernel with KASAN, lockdep, kmemleak: half an hour to two
#+               (and 10 to 40 minutes for that kernel, once)
#+ make check-injection    lets every step of pfdrive and every allocation of the module fail once
#+ make fuzz-debugfs [OPERATIONS=1000000] [KERNEL=6.12] [SEED=…]    fuzzes the module's files, in a VM
#+ make stress [MINUTES=10] [KERNEL=6.12] [SEED=N] [LOADS=N]    stress test in a VM
#+ make stress-same [KERNEL=6.12] [NAMES=fault]    tests of stress-ng and the kernel, with and without hooks, in a VM
#+ make check-kernels [KERNELS=…] [TESTS=file]    the VM tests on each of Debian's kernels (hours)
#+ make bpf-stats  cost of each eBPF program for the verifier and the machine, on every kernel
#+ make bench [KERNELS=6.12] [ROWS="pfstat graph"]    instructions that pfstat and its peers add to a fault, in VMs (15 minutes)
#+ make bench-check    the same; fails if pfstat is 5 % above the committed figures
#+ make bench-native [OPTIONS="--rows pfstat"]    the same as time, on this machine; asks before
#+ make bench-scale   time that pfstat adds with 1 to 4 threads, each on its own CPU, in a VM
#+ make bench-loop   instructions of pfdrive's access loop, compared with a bare loop
#+ make bench-record [MILLIONS=10]    losses and memory of recording faults in the VM
#+ make bench-codecs [MILLIONS=10]    speed of zstd and zlib for recordings
#+ make bench-merge                    speed of the merge of the CPUs' rings
#+ make bench-report [MILLIONS=10]    speed and memory of pfdrive report
#+ make pfdrive BPF=no    pfdrive without eBPF: needs no clang, bpftool and libbpf
#+ make pfdrive BPF=no CROSS=riscv64-linux-gnu- BUILD=build/riscv64    for another architecture; see install.rst
#+ make pfdrive-static    pfdrive as one file without libraries, to copy to another machine
#+ make wheel     pfstat for Python, with pfdrive-static, in build/wheel [ARCH=arm64]
#+ make docs      the documents as HTML, in build/docs/html
#+ make man       the man pages, if rst2man is installed
#+ make schema    the JSON schema of a report, in build/pfdrive.schema.json
#+ make completion    completion of pfdrive's command line for bash and zsh, in build/completion
#+ make install, uninstall [PREFIX=/usr/local] [DESTDIR=root]    everything, with man pages and completion
#+ make install-user, install-module    a part of that [SIGN_KEY=file SIGN_CERT=file: sign the module]
#+ make install-dkms    the source of the module in /usr/src, for DKMS
#+ make dist, deb, rpm, arch    a source archive, and packages for Debian, rpm and Arch Linux, in build
#+ make grade LAB=a SUBMISSION=dir [FORMAT=json]    grades a submission of coursework, in VMs
#+ make check-course    grades the solutions of the coursework, and the wrong ones
#+ make course-handout    an archive for students, without the solutions
#+ make lab-image, check-lab-image    the lab as a folder that boots with QEMU only, and its test
#+ make clean     removes the built files
#+ BUILD=dir  KDIR=kernel's build dir  CLANG=… BPFTOOL=… other tools  V=1 prints the commands
.DEFAULT_GOAL := all
# MODULE=no leaves it out, for a kernel that it cannot be built for.
module_goal	:= $(if $(filter no,$(MODULE)),,module)
all: $(module_goal) pfdrive
.PHONY: help help-all all guest module pfdrive demo policy check check-unit check-vm check-long check-debug check-kernels smoke fuzz lint bpf-stats clean
.DELETE_ON_ERROR:

# The VM architecture, for tools/lab and all callers, or empty for this machine's.
ARCH	?=
export LAB_ARCH := $(ARCH)
vm_is_arm64	:= $(filter arm64 aarch64,$(or $(ARCH),$(shell uname -m)))

include tools/make/module.mk
include tools/make/user.mk
include tools/make/check.mk
include tools/make/fuzz.mk
include tools/make/bench.mk
include tools/make/stress.mk
include tools/make/install.mk
include tools/make/docs.mk
include tools/make/package.mk
include tools/make/python.mk
include tools/make/course.mk

# The programs the lab builds for guests, including those tests run there.
guest: all $(guest_programs)

demo:
	$(Q)tools/demo

policy:
	$(Q)tools/policy

clean:
	$(Q)rm -rf $(BUILD)
