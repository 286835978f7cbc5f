#!/usr/bin/env bash
# Slurm with two nodes that are one machine: `two-nodes.sh COMMAND…` starts the daemons in a directory of
# their own, runs COMMAND, and ends them again. Needs Debian's slurmctld, slurmd, slurm-client and munge,
# and root.
set -euo pipefail

dir=$(mktemp -d /tmp/slurm-two-nodes.XXXXXX)
declare -a pids=()
# A node's daemon that is killed leaves that of a step, which then waits for it for ever: steps end first,
# and those that do not are found by the configuration that they were started with.
end() {
  scancel --user=root 2>/dev/null || true
  for _ in $(seq 100); do
    [ -z "$(squeue --noheader 2>/dev/null)" ] && break
    sleep 0.1
  done
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  for step in $(pgrep -x slurmstepd); do
    grep -qzF "SLURM_CONF=$dir/" "/proc/$step/environ" 2>/dev/null && kill -KILL "$step"
  done
  rm -rf "$dir"
}
trap end EXIT

# The daemons know each other by munge, on a socket and with a key of their own.
mkdir -m 0700 "$dir/munge"
dd if=/dev/urandom of="$dir/munge/key" bs=128 count=1 status=none
chmod 0400 "$dir/munge/key"
munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge.socket" \
  --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" \
  2>"$dir/munge/err" &
pids+=($!)

host=$(hostname -s)
mkdir "$dir/state"
cat >"$dir/slurm.conf" <<CONF
ClusterName=two
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdLogFile=$dir/slurmd.%n.log
SlurmctldLogFile=$dir/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=26818 CPUs=2 RealMemory=1000
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=26819 CPUs=2 RealMemory=1000
PartitionName=all Nodes=one,two Default=YES MaxTime=10:00 State=UP OverSubscribe=YES
CONF
export SLURM_CONF=$dir/slurm.conf

slurmctld -D -f "$SLURM_CONF" >"$dir/slurmctld.out" 2>&1 &
pids+=($!)
# Two nodes of one machine would have one directory for what PMIx keeps of a step, so each has a
# configuration of its own, which differs in that.
for node in one two; do
  mkdir -p "$dir/spool.$node" "$dir/$node" "$dir/pmix.$node"
  ln -s "$SLURM_CONF" "$dir/$node/slurm.conf"
  echo "PMIxCliTmpDirBase=$dir/pmix.$node" >"$dir/$node/mpi.conf"
  SLURM_CONF=$dir/$node/slurm.conf slurmd -D -N "$node" >"$dir/slurmd.$node.out" 2>&1 &
  pids+=($!)
done

are_idle() { [ "$(sinfo --noheader --format %D --states=idle 2>/dev/null)" = 2 ]; }
for _ in $(seq 100); do
  are_idle && break
  sleep 0.1
done
if ! are_idle; then
  echo "slurm-two-nodes: the nodes are not there after 10 s; the daemons said:" >&2
  tail -n 5 "$dir"/*.out "$dir"/*.log "$dir"/munge/err >&2
  exit 1
fi
"$@"
