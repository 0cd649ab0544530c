# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Kernels the lab builds from Debian's source, with the files in tools/kernels. In the kernel table
# their image is a linux-source package, or linux/SUITE, and their headers are these files:
# fragments, then patches.
#
# A built kernel is kept in $LAB_CACHE/linux-NAME-VERSION-KEY, apart from the root
# that boots it: a root takes minutes to build, a kernel much longer.

KERNEL_FILES=$TREE/tools/kernels
BUILD_MB=6000		# space for a builder and its build tree
# The packages that a kernel's build needs in addition to a minimal root.
BUILD_PACKAGES=bc,bison,cpio,dwarves,flex,gcc,kmod,libc6-dev,libelf-dev,lz4,make,patch,perl
BUILD_PACKAGES+=,libssl-dev,openssl,python3,xz-utils

# files_of SUFFIX LIST: a row's files with this suffix, joined by commas.
files_of()
{
	tr ',' '\n' <<<"$2" | grep "\.$1\$" | paste -sd,
}

# variants: every kernel in the table differing from $kernel only in the patches, the unpatched one
# first, each in make-linux form: NAME[:PATCHES]. They come from one build, because they exist to be
# compared.
variants()
{
	local name row_suite row_image files
	while read -r name row_suite row_image files _; do
		[ "$row_suite $row_image" = "$suite $image" ] || continue
		[ "$(files_of config "$files")" = "$(files_of config "$headers")" ] || continue
		echo "$name $(files_of patch "$files")"
	done < <(kernel_table) | sort -k2 | sed -e 's/ $//' -e 's/ /:/'
}

# A kernel build's inputs, apart from the source.
linux_key()
{
	local files
	if from_ubuntu; then
		sha256sum <"$LAB_DIR/ubuntu.sh"
		return
	fi
	IFS=, read -ra files <<<"$headers"
	(cd "$KERNEL_FILES" && cat -- "${files[@]}" "$LAB_DIR/make-linux") | sha256sum | cut -c1-12
}

# Sets hooks: the new root reports the archive's source version, or for a source package the newest
# version of the row's release.
source_version_hook()
{
	local show="apt-cache show --no-all-versions $image" which=.
	from_ubuntu && return
	if from_source_package; then
		show='apt-cache showsrc --only-source linux' which="^${kernel}[.]"
	fi
	hooks=("--customize-hook=chroot \"\$1\" $show | sed -n 's/^Version: //p' |
		{ grep '$which' || true; } | sort -V | tail -n 1 >\"\$1/../source-version\"")
}

# source_hook VERSION: sets hooks: the kernel's source from Debian's source package is placed where
# linux-source packages place theirs. (Debian's patches are a separate file, which the archive keeps
# for a shorter time.)
source_hook()
{
	hooks=("--customize-hook=chroot \"\$1\" sh -euc '
		cd /usr/src
		apt-get -q source --download-only --tar-only linux=$1
		mv linux_*.orig.tar.xz linux-source-$kernel.tar.xz'")
}

# place_linux HOME: copies $kernel, built from that version, into the root in HOME.
place_linux()
{
	local home=$1 version lock_fd
	if from_ubuntu; then
		place_ubuntu "$home"
		return
	fi
	version=$(<"$home/source-version")
	[ -n "$version" ] || die "cannot find $image in Debian $suite"
	linux_home=$LAB_CACHE/linux-$kernel-$version-$(linux_key)
	lock linux
	[ -e "$linux_home/release" ] || build_linux "$version"
	touch "$linux_home"
	unlock
	if ! as_root cp -r --no-target-directory "$linux_home/root" "$home/root" ||
		! cp "$linux_home/bzImage" "$home/vmlinux"; then
		die "cannot copy the kernel of $linux_home: is the disk full?"
	fi
	drop_old_linux
}

# Builds $kernel and the variants. Each becomes valid, and complete, by the rename.
build_linux()
{
	local version=$1 started=$SECONDS builder log=$LAB_CACHE/linux-$kernel.log family
	[ "$(free_megabytes)" -ge $BUILD_MB ] ||
		die "cannot build $kernel: $LAB_CACHE has $(free_megabytes) MB free, $BUILD_MB MB are needed"
	remove_tree "$LAB_CACHE"/linux.tmp.*
	builder=$(mktemp -d "$LAB_CACHE/linux.tmp.XXXXXX")
	on_exit remove_tree "$builder"
	chmod 755 "$builder"
	mapfile -t family < <(variants)
	say "building Linux $version with the options of $(files_of config "$headers"), once:" \
		"10 to 40 minutes, up to $BUILD_MB MB meanwhile; its log is $log"
	bootstrap_builder "$builder" "$version" >"$log" 2>&1 ||
		die "cannot make a root to build $kernel in: $(first_error "$log"); see $log"
	run_builder "$builder" "${family[@]}" >>"$log" 2>&1 ||
		die "cannot build the kernel of $kernel: $(build_error "$log"); see $log"
	keep_variants "$builder" "$version" "${family[@]}"
	remove_tree "$builder"
	say "built Linux $version in $(((SECONDS - started + 30) / 60)) minutes"
}

bootstrap_builder()
{
	local builder=$1 version=$2 include=$BUILD_PACKAGES hooks=()
	if from_source_package; then source_hook "$version"; else include+=,$image; fi
	apt_settings >"$builder/apt.conf"
	sources_for "$suite" >"$builder/sources.list"
	# shellcheck disable=SC2016  # another shell runs the hook
	as_root mmdebstrap --mode=root --variant=minbase --format=directory \
		--aptopt="$builder/apt.conf" --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--include="$include" \
		--customize-hook='mkdir -p "$1/build/files" "$1/pfstat"' "${hooks[@]}" \
		"$suite" "$builder/root" - <"$builder/sources.list"
}

# Uses the paths of the tree's own build. nice, because it takes every CPU for a long time.
run_builder()
{
	local builder=$1
	shift
	as_root cp -- "$KERNEL_FILES"/* "$LAB_DIR/make-linux" "$builder/root/build/files"
	in_builder "$builder/root" nice -n 10 sh /build/files/make-linux \
		"$(files_of config "$headers")" "$@" </dev/null
}

in_builder()
{
	local root=$1
	shift
	if [ "$can_mount" = no ]; then
		in_root "$root" "$@"
		return
	fi
	# shellcheck disable=SC2016  # another shell runs the script
	as_root sh -euc '
		root=$1; shift
		mount --rbind /dev "$root/dev"
		mount --rbind /proc "$root/proc"
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
	' sh "$root" "$@"
}

build_error()
{
	grep -m1 -E '(: error:|\*\*\* |^make-linux:|FAILED|No space left)' "$1" || tail -n1 "$1"
}

keep_variants()
{
	local builder=$1 version=$2 variant home
	local kernel suite image headers download disk	# from each variant's row
	shift 2
	for variant; do
		kernel=${variant%%:*}
		kernel_row "$kernel"
		home=$LAB_CACHE/linux-$kernel-$version-$(linux_key)
		keep_signing_key "$builder/root/build"
		remove_tree "$home"
		as_root mv "$builder/root/build/$kernel" "$home"
	done
}

# keep_signing_key BUILD: if the kernel checks module signatures, the kernel's own key comes into
# the folder for building modules, with the signing program.
keep_signing_key()
{
	local build=$1 folder
	[ -e "$build/out/certs/signing_key.pem" ] || return 0
	folder=$(echo "$build/$kernel/root/usr/lib/modules"/*/build)
	as_root install -D -m 644 -t "$folder/certs" "$build"/out/certs/signing_key.{pem,x509}
	as_root install -D -t "$folder/scripts" "$build/out/scripts/sign-file"
}

# Kernels from an older source or configuration, unused for days.
drop_old_linux()
{
	local old
	find "$LAB_CACHE" -maxdepth 1 -type d -name "linux-$kernel-*" ! -path "$linux_home" -mtime +3 |
		while read -r old; do
			say "removing $old, unused for days"
			remove_tree "$old"
		done
}
