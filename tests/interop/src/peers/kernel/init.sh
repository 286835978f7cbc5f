#!/bin/sh
# The first process of the guest: file systems, the NFS server and its daemons on their
# usual ports, then jobs from the folder that is shared with the host, until it is ended.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
exec </dev/console >/dev/console 2>&1
modprobe -a virtio_pci virtio_net virtio_blk virtio-rng 9pnet_virtio 9p
modprobe lockd nlm_tcpport=32803 nlm_udpport=32803 nlm_timeout=3 nlm_grace_period=3
modprobe -a nfsd nfs nfsv3 nfsv4 ext4
hostname knfsd
ip link set lo up
ip addr add 10.77.0.2/24 dev eth0
ip link set eth0 up
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,access=any share /share
mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
options=rw,async,insecure,no_root_squash,no_subtree_check
mkdir -p /export /ext4
mount -t tmpfs -o size=40%,mode=1777 export /export
mount -t ext4 /dev/vda /ext4
chmod 1777 /ext4
printf '%s\n' "/export *($options,fsid=1)" "/ext4 *($options,fsid=2)" >/etc/exports
rpcbind
rpc.statd -p 32765 -o 32766 --no-notify
nfsdcld
# Ten seconds is the least that the kernel takes; with its usual 90 the first lock can wait as long.
echo 10 >/proc/fs/nfsd/nfsv4gracetime
exportfs -ra
rpc.nfsd -t -u -p 2049 -H 0.0.0.0 8
rpc.mountd -p 20048
echo "GUEST-READY kernel $(uname -r)"
number=1
while :; do
  if [ -e "/share/$number.job" ]; then
    (
      sh "/share/$number.job" >"/share/$number.out" 2>"/share/$number.err" </dev/null
      echo $? >"/share/$number.status"
      mv "/share/$number.status" "/share/$number.ended"
    ) &
    number=$((number + 1))
  else
    sleep 0.05
  fi
done
