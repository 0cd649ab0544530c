# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Builds the boot files for an arm64 guest, in $root_home, with the names root.sh gives an x86-64
# guest's files. No guest program runs on this machine:
#   root/      a root of this machine's architecture with a cross compiler, the guest's headers and
#              libraries; the tree is built in it (see tree.sh)
#   root.img   the guest's root: packages that were unpacked, not installed, as an ext4 image
#   vmlinux, initrd, release   as in root.sh

# The programs initramfs-init and the shell in it call.
ARM64_APPLETS=(sh '[' dd echo grep insmod mkdir mount poweroff sleep switch_root tar)

prepare_arm64()
{
	need mmdebstrap mke2fs unshare flock dpkg arch-test
	become_root
	lock "arm64-$kernel"
	if [ -e "$root_home/release" ]; then
		touch "$root_home"
	else
		check_space
		build_arm64_home
		drop_old_arm64
	fi
	unlock
}

# arm64_packages build|guest: the packages, joined by commas.
arm64_packages()
{
	awk -v root="$1" '$1 == root { print $2 }' "$LAB_DIR/packages-arm64" | paste -sd,
}

# Everything determining the roots for the current row's kernel, as root_key.
arm64_key()
{
	{
		echo "$suite $image $headers ${extra_packages:-} ${keep_guest:-}"
		cat "$LAB_DIR"/{arm64.sh,packages-arm64,initramfs-init}
		dpkg --print-architecture
	} | sha256sum | cut -c1-12
}

build_arm64_home()
{
	local started=$SECONDS temporary

	remove_tree "$LAB_CACHE/arm64-$kernel".tmp.*
	temporary=$(mktemp -d "$LAB_CACHE/arm64-$kernel.tmp.XXXXXX")
	on_exit remove_tree "$temporary"
	chmod 755 "$temporary"
	say "building a Debian $suite root for Linux $kernel on arm64, and one to compile it," \
		"once: about $download MB to download, $disk MB in $LAB_CACHE"
	apt_settings >"$temporary/apt.conf"
	sources_for "$suite" >"$temporary/sources.list"
	bootstrap_arm64_build "$temporary"
	bootstrap_arm64_guest "$temporary"
	say "making the disk image and the initramfs"
	finish_arm64_guest "$temporary"
	remove_tree "$root_home"
	mv "$temporary" "$root_home"
	say "Linux $(<"$root_home/release") is ready after $((SECONDS - started)) s"
}

# arm64_mmdebstrap HOME LOG OPTION…: the common part of both roots.
arm64_mmdebstrap()
{
	local home=$1 log=$2
	shift 2
	as_root mmdebstrap --mode=root --format=directory --aptopt="$home/apt.conf" \
		--dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$@" - <"$home/sources.list" >"$log" 2>&1 ||
		die "cannot build a root of $kernel for arm64: $(first_error "$log"); see $log"
}

# apt refuses the headers, which depend on a compiler that runs on arm64, so they are unpacked.
# Their programs are in linux-kbuild, for this machine. The arguments are the metapackage's name,
# and the suite if it is another one.
# shellcheck disable=SC2016,SC2089  # another shell runs the script
ARM64_HEADERS='
	package=$(apt-cache depends "$1:arm64${2:+/$2}" |
		sed -n "s/^ *Depends: \\(linux-headers-[0-9][^:]*\\).*/\\1/p" | head -n 1)
	version=${package#linux-headers-}
	version=${version%-"${1#linux-headers-}"}
	apt-get install -y --no-install-recommends \
		"linux-headers-$version-common" "linux-kbuild-$version"
	cd /var/tmp
	apt-get download "$package:arm64"
	dpkg-deb -x "$package"_*.deb /
	rm "$package"_*.deb
'

bootstrap_arm64_build()
{
	local home=$1
	# shellcheck disable=SC2090  # as above
	export ARM64_HEADERS
	# shellcheck disable=SC2016  # the hooks are for another shell
	arm64_mmdebstrap "$home" "$LAB_CACHE/arm64-$kernel-build.log" --variant=minbase \
		--architectures="$(dpkg --print-architecture),arm64" \
		--include="$(arm64_packages build)" \
		--customize-hook='chroot "$1" sh -euc "$ARM64_HEADERS" sh '"${headers/\// }" \
		--customize-hook='rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap' \
		--customize-hook='mkdir -p "$1"/pfstat' \
		"$suite" "$home/root"
}

# The guest's root is inside the other one, whose tools complete it. The guest's root is removed
# when the image is there, unless keep_guest is yes.
bootstrap_arm64_guest()
{
	local home=$1
	arm64_mmdebstrap "$home" "$LAB_CACHE/arm64-$kernel-guest.log" --variant=extract \
		--architectures=arm64 \
		--include="?essential" \
		--include="$(arm64_packages guest),$image${extra_packages:+,$extra_packages}" \
		"$suite" "$home/root/guest"
}

# Replaces the packages' maintainer scripts, then makes the boot files.
finish_arm64_guest()
{
	local home=$1 guest=$1/root/guest release
	release=$(release_of "$guest")
	[ -d "$home/root/usr/src/linux-headers-$release" ] ||
		die "cannot build for Linux $release: its headers are not in the archive; try again later"
	# shellcheck disable=SC2016  # another shell runs the script
	as_root sh -euc '
		cd "$1"
		mkdir -p pfstat mnt/disk out root tmp run proc sys dev var/tmp
		cp usr/share/base-passwd/passwd.master etc/passwd
		cp usr/share/base-passwd/group.master etc/group
		ln -sf mawk usr/bin/awk
		ln -sf gnuplot-nox usr/bin/gnuplot
		ln -sf which.debianutils usr/bin/which
		for type in account auth password session session-noninteractive; do
			echo "${type%%-*} required pam_permit.so" >"etc/pam.d/common-$type"
		done
		rm -rf var/cache/apt var/lib/apt/lists
	' sh "$guest"
	in_root "$home/root" depmod -b /guest "$release"
	cp "$(arm64_image "$guest" "$release")" "$home/vmlinux"
	arm64_initrd "$home" "$release" "$LAB_DIR/initramfs-init" >"$home/initrd" ||
		die "cannot make the initramfs of $kernel for arm64"
	make_image "$guest" "$home/root.img" 4096
	[ "${keep_guest:-}" = yes ] || as_root rm -rf "$guest"
	echo "$release" >"$home/release"
}

# Since 7.2 the package's script copies the image from the folder of the modules to /boot.
arm64_image()
{
	local image
	for image in "$1/boot/vmlinuz-$2" "$1/usr/lib/modules/$2/vmlinuz"; do
		[ ! -e "$image" ] || { echo "$image"; return; }
	done
	die "cannot find the kernel of $kernel for arm64: it is neither in /boot nor with its modules"
}

# arm64_initrd HOME RELEASE INIT: as make-initrd, with the modules and the busybox in /guest.
arm64_initrd()
{
	# shellcheck disable=SC2016  # another shell runs the script
	sed "s,/dev/ttyS0,/dev/$ARM64_CONSOLE," "$3" | in_root "$1/root" sh -euc '
		release=$1 modules=$2 applets=$3
		work=$(mktemp -d)
		cd "$work"
		mkdir bin dev proc sys root modules
		cat >init
		chmod 755 init
		cp /guest/usr/bin/busybox bin/
		for applet in $applets; do ln -s busybox "bin/$applet"; done
		for module in $modules; do
			modprobe -d /guest -S "$release" --show-depends "$module"
		done >shown
		awk '\''$1 == "insmod" && !seen[$2]++ { print $2 }'\'' shown >list
		rm shown
		: >modules/order
		while read -r path; do
			name=$(basename "${path%.xz}")
			case $path in
			*.xz) xz -dc "$path" >"modules/$name" ;;
			*) cp "$path" modules/ ;;
			esac
			echo "$name" >>modules/order
		done <list
		rm list
		find . | cpio --quiet -o -H newc
		cd /
		rm -rf "$work"
	' sh "$2" "${BOOT_MODULES[*]}" "${ARM64_APPLETS[*]}"
}

# Roots from an older lab, unused for days.
drop_old_arm64()
{
	local old
	find "$LAB_CACHE" -maxdepth 1 -type d -name "arm64-$kernel-*" ! -path "$root_home" -mtime +3 |
		while read -r old; do
			say "removing $old, unused for days"
			remove_tree "$old"
		done
}
