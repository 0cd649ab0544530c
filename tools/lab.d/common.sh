# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Shared by all parts of the lab: messages, locks, the cache, the kernel table.

LAB_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/pfstat/lab
arch=amd64		# Debian's name of the guest's architecture
ARM64_CONSOLE=ttyAMA0	# the device of its kernel's console, on arm64
FAILED=125		# the lab itself failed; COMMAND's own statuses are usually lower
TIMED_OUT=124
QUIET=no

say()
{
	[ "$QUIET" = yes ] || printf 'lab: %s\n' "$*" >&2
}

die()
{
	printf 'lab: %s\n' "$*" >&2
	exit "$FAILED"
}

usage_error()
{
	printf 'lab: %s (try tools/lab --help)\n' "$*" >&2
	exit 2
}

need()
{
	local tool
	for tool; do
		command -v "$tool" >/dev/null ||
			die "cannot find $tool: run tools/deps"
	done
}

# become_root: selects how as_root gets privileges. Root runs commands directly, a user as root in a
# user namespace, both with separate mounts, which vanish with the process. A container's root may
# lack the right to mount.
become_root()
{
	namespace=(unshare --mount --)
	[ "$EUID" = 0 ] || namespace=(unshare --map-auto --map-root-user --mount --)
	if as_root true 2>/dev/null; then
		can_mount=yes
		return
	fi
	[ "$EUID" = 0 ] || die "cannot become root of a user namespace: run as root," \
		"or give $(id -un) ranges in /etc/subuid and /etc/subgid"
	namespace=()
	can_mount=no
}

as_root()
{
	"${namespace[@]}" "$@"
}

remove_tree()
{
	as_root rm -rf --one-file-system -- "$@"
}

# lock NAME: locks until unlock or exit. The descriptor is in lock_fd. A process outliving the step
# must not inherit it.
lock()
{
	mkdir -p "$LAB_CACHE"
	exec {lock_fd}>"$LAB_CACHE/$1.lock"
	flock -n "$lock_fd" && return
	say "waiting for another lab that builds $1"
	flock "$lock_fd"
}

unlock()
{
	exec {lock_fd}>&-
}

# The guest architecture if nothing else names one: this machine's.
default_arch()
{
	case $(uname -m) in
	aarch64) echo arm64 ;;
	*) echo amd64 ;;
	esac
}

# set_arch NAME: sets arch. Takes the kernel's names, too.
set_arch()
{
	case $1 in
	x86-64 | x86_64 | x86 | amd64) arch=amd64 ;;
	arm64 | aarch64) arch=arm64 ;;
	*) usage_error "--arch takes x86-64 or arm64, not $1" ;;
	esac
	[ "$arch" != amd64 ] || [ "$(default_arch)" = amd64 ] ||
		usage_error "the lab makes guests of x86-64 on such a machine only"
}

# kernel_row NAME: sets suite, image, headers, download and disk.
kernel_row()
{
	local name
	while read -r name suite image headers download disk; do
		[ "$name" = "$1" ] || continue
		arch_kernels | grep -qxF -- "$name" ||
			usage_error "there is no guest of Linux $name for $arch:" \
			"it is one of $(arch_kernels | paste -sd' ')"
		[ "$arch" = amd64 ] || image=${image/amd64/arm64} headers=${headers/amd64/arm64}
		return 0
	done < <(kernel_table)
	usage_error "unknown kernel $1: it is one of $(kernel_names)"
}

# The names of the current architecture's kernels.
arch_kernels()
{
	local column=9
	[ "$arch" = amd64 ] || column=10
	awk -v column=$column '!/^#/ && $column != "-" { print $1 }' "$TREE/tools/kernels/list"
}

# True if the current row's kernel is not a package in the row's suite, but is placed in the root.
from_source()
{
	[[ $image == linux-source-* ]] || from_source_package || from_ubuntu
}

from_ubuntu()
{
	[[ $image == ubuntu/* ]]
}

from_source_package()
{
	[[ $image == linux/* ]]
}

# Prints NAME SUITE IMAGE HEADERS DOWNLOAD DISK for each kernel.
kernel_table()
{
	awk '!/^#/ { print $1, $3, $4, $5, $6, $7 }' "$TREE/tools/kernels/list"
}

kernel_names()
{
	kernel_table | awk '{ printf "%s%s", sep, $1; sep = ", " }'
}

default_kernel()
{
	kernel_table | awk 'NR == 1 { print $1 }'
}

# The packages in every root, the compiler for a kernel from elsewhere, and those from --packages,
# which give a separate root.
packages()
{
	grep -v -e '^#' -e '^$' "$LAB_DIR/packages"
	! from_ubuntu || [ "$headers" = - ] || echo "$headers"
	[ -z "${extra_packages:-}" ] || tr , '\n' <<<"$extra_packages"
}

# A short name for everything determining the root for the current row's kernel: if any of it
# changes, "prepare" builds a new root.
root_key()
{
	{
		kernel_table | awk -v name="$1" '$1 == name { print $2, $3, $4 }'
		packages
		cat "$LAB_DIR"/{root.sh,make-initrd,initramfs-init}
		! from_source || linux_key
		dpkg --print-architecture
	} | sha256sum | cut -c1-12
}

# select_kernel NAME: sets kernel and root_home, the kernel's root folder.
select_kernel()
{
	kernel=$1
	kernel_row "$kernel"
	case $arch in
	amd64) root_home=$LAB_CACHE/$kernel-$(root_key "$kernel") ;;
	arm64) root_home=$LAB_CACHE/arm64-$kernel-$(arm64_key) ;;
	esac
}

megabytes()
{
	du -sm "$1" 2>/dev/null | cut -f1
}

# on_exit COMMAND…: registers a cleanup for the lab's exit. The last one runs first.
cleanups=()
on_exit()
{
	cleanups=("$(printf '%q ' "$@")" "${cleanups[@]}")
}

run_cleanups()
{
	local step
	set +e
	for step in "${cleanups[@]}"; do
		eval "$step"
	done
}

trap run_cleanups EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
