#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Starts a container, app, whose program reads a file of a volume through a mapping. Its image is made
# of this machine's own files, so that nothing is downloaded. Takes a folder to work in, and prints
# the words of podman run that stand for the image.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$1/root
data=$1/data

mkdir -p "$data" "$root/usr" "$root/etc" "$root/pfstat" "$root/data"
for name in bin sbin lib lib64; do
	ln -sfn usr/$name "$root/$name"
done
cp /etc/passwd /etc/group /etc/ld.so.cache "$root/etc"
head -c 1M /dev/urandom >"$data/table"
cp "$here/container.py" "$data"

[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup
image="--network=none -v /usr:/usr:ro -v /pfstat:/pfstat:ro -v $data:/data --rootfs $root"
# shellcheck disable=SC2086 # words
podman run --rm --detach --name app $image python3 /data/container.py >/dev/null
echo "$image"
