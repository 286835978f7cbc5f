#!/bin/bash
# image.sh FOLDER INIT: makes a Linux kernel and an initial root file system in memory from Debian's packages; INIT is the
# first process. Packages are unpacked, not installed: none of their scripts runs. Everything is cached in the folder, and
# made again when its inputs have changed.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# Packages that the guest needs, without their dependencies.
packages="nfs-kernel-server nfs-common rpcbind ksmbd-tools busybox-static dash mount util-linux kmod coreutils libgcc-s1
  python3-minimal libpython3-stdlib"
# Dependencies that only package scripts need, and large unused ones.
unneeded="perl|libperl|usrmerge|media-types|lsb-base|libc-bin|adduser|ucf|init-system-helpers|libicu|dpkg|debconf|base-files|passwd"
# Kernel modules, without their dependencies. The kernel requests those from aesni-intel on by name.
modules="virtio_pci virtio_net virtio_blk virtio-rng 9pnet_virtio 9p nfsd lockd sunrpc nfs nfsv3 nfsv4 nfs_acl auth_rpcgss
  ext4 crc32c_generic ksmbd cifs aesni-intel ccm cmac ctr ecb gcm ghash-generic hmac md5 nls_utf8 sha256_generic
  sha512_generic"
# Folders that a running system expects.
folders="proc sys dev run/rpcbind tmp mnt share root var/tmp var/lib/nfs/rpc_pipefs var/lib/nfs/nfsdcld var/lib/nfs/sm
  var/lib/nfs/sm.bak var/lib/nfs/v4recovery etc"
# Parts of packages that are not used here.
unread="usr/share/doc usr/share/man usr/share/locale usr/share/info usr/share/perl5 usr/lib/udev usr/lib/systemd
  usr/lib/x86_64-linux-gnu/gconv etc/init.d"

script=$(realpath "$0") init=$(realpath "$2") start=$SECONDS
mkdir -p "$1/packages/partial"
cd "$1"
: >no-packages
resolve() {
  apt-get -s -o APT::Install-Recommends=0 -o "Dir::State::status=$PWD/no-packages" -o Debug::NoLocking=1 install $packages
}
# A new machine has no package lists.
resolved=$(resolve 2>/dev/null) || { apt-get -q update >&2; resolved=$(resolve); }
names=$(sed -n 's/^Inst \([^ :]*\).*/\1/p' <<<"$resolved" | grep -vE "^($unneeded)" | sort)
kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | tail -n 1)
if [ -z "$kernel" ]; then
  echo "linux-image-amd64 names no kernel: this needs Debian's packages for amd64" >&2
  exit 1
fi
stamp=$(echo $names "$kernel" | cat - "$script" "$init" | sha256sum)
[ "$(cat stamp 2>/dev/null)" = "$stamp" ] && exit

missing=$(for name in $names $kernel; do compgen -G "packages/${name}_*" >/dev/null || echo "$name"; done)
if [ -n "$missing" ]; then
  echo downloading $missing
  (cd packages && apt-get -q -o APT::Sandbox::User=root download $missing >&2)
fi

# A system whose programs are all below usr.
rm -rf root kernel-package
mkdir kernel-package
for path in bin sbin lib lib64; do
  mkdir -p "root/usr/$path"
  ln -s "usr/$path" "root/$path"
done
(cd root && mkdir -p $folders)
unpack() {
  dpkg-deb --fsys-tarfile packages/"$1"_* | tar --keep-directory-symlink -xf - -C "$2"
}
for name in $names; do unpack "$name" root; done
unpack "$kernel" kernel-package
(cd root && rm -rf $unread)

# Files that an installation would have made, and links to busybox under all its names.
cat >root/etc/passwd <<'END'
root:x:0:0:root:/root:/bin/sh
_rpc:x:100:65534::/run/rpcbind:/bin/false
statd:x:101:65534::/var/lib/nfs:/bin/false
user1:x:1000:1000::/tmp:/bin/sh
nobody:x:65534:65534::/:/bin/false
END
printf 'root:x:0:\nuser1:x:1000:\nnogroup:x:65534:\n' >root/etc/group
printf 'passwd: files\ngroup: files\nhosts: files\n' >root/etc/nsswitch.conf
printf '127.0.0.1 localhost knfsd\n10.77.0.2 guest\n10.77.0.1 host\n' >root/etc/hosts
install -m 755 "$init" root/init
chmod 1777 root/tmp root/var/tmp
exists() { [ -e "$1" ] || [ -L "$1" ]; }
exists root/var/run || ln -s ../run root/var/run
ln -s ../proc/self/mounts root/etc/mtab
# busybox's shell would prefer its built-in mount to the one that supports NFS.
exists root/usr/bin/sh || ln -s dash root/usr/bin/sh
for name in $(root/bin/busybox --list); do
  exists "root/usr/bin/$name" || exists "root/usr/sbin/$name" || ln -s busybox "root/usr/bin/$name"
done

# The modules and their dependencies, uncompressed. modprobe, run in the new root, lists them; for those that are built
# into the kernel it lists no file, or fails.
from=$(compgen -G "kernel-package/lib/modules/*" || compgen -G "kernel-package/usr/lib/modules/*")
version=${from##*/}
mkdir -p root/usr/lib/modules
mv "$from" root/usr/lib/modules/
chroot root /usr/sbin/depmod "$version"
needed=$(
  for module in $modules; do
    chroot root /usr/sbin/modprobe -S "$version" -a -D "$module" 2>/dev/null || :
  done | sed -n "s|^insmod .*/$version/\([^ ]*\).*|\1|p" | sort -u
)
mv "root/usr/lib/modules/$version" root/usr/lib/modules/all
for file in $needed modules.builtin modules.builtin.modinfo modules.order; do
  mkdir -p "$(dirname "root/usr/lib/modules/$version/$file")"
  mv "root/usr/lib/modules/all/$file" "root/usr/lib/modules/$version/$file"
  [[ $file != *.xz ]] || xz -d "root/usr/lib/modules/$version/$file"
done
rm -rf root/usr/lib/modules/all
chroot root /usr/sbin/depmod "$version"

# The kernel, uncompressed if possible: QEMU then starts it at once and need not emulate its decompression. xz ends with
# an error, caused by the data after the compressed part.
cp "kernel-package/boot/vmlinuz-$version" kernel
at=$(grep -aboP '\xfd7zXZ\x00' kernel | head -n 1 | cut -d: -f1 || :)
if [ -n "$at" ]; then
  tail -c "+$((at + 1))" kernel | xz -d -c --single-stream >plain 2>/dev/null || :
  [ "$(head -c 4 plain)" != $'\x7fELF' ] || mv plain kernel
  rm -f plain
fi
(cd root && find . -xdev | bin/busybox cpio -o -H newc >../initramfs 2>/dev/null)
rm -rf root kernel-package
echo "$stamp" >stamp
echo "image of $(wc -w <<<"$names") packages and a kernel made in $((SECONDS - start)) s"
