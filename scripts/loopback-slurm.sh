#!/usr/bin/env bash
# A Slurm of one's own on this machine, for tests: munge, a controller and some virtual nodes, all on loopback.
#
#   loopback-slurm.sh start DIR [NODES]   everything lives in DIR; prints the slurm.conf to use (export SLURM_CONF=…)
#   loopback-slurm.sh stop DIR            ends what was started there, and nothing else
#
# Needs root (nodes start jobs as their owners) and Debian's packages munge, slurmctld, slurmd and slurm-client. Exit code 77: cannot be had here, and
# why is on standard error.
set -u

cannot() { echo "loopback-slurm: $*" >&2; exit 77; }
fail() { echo "loopback-slurm: $*" >&2; exit 1; }

# Ends the process of a pid file, if that is still the program we started.
end_process() {
    local file=$1 program=$2 pid tries
    [ -f "$file" ] || return 0
    pid=$(cat "$file")
    if [ -n "$pid" ] && [ "$(basename "$(readlink -f "/proc/$pid/exe" 2>/dev/null)")" = "$(basename "$(readlink -f "$(command -v "$program")")")" ]; then
        kill "$pid" 2>/dev/null
        for tries in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null
    fi
    rm -f "$file"
}

stop() {
    local dir=$1 file
    export SLURM_CONF=$dir/slurm.conf
    if [ -f "$dir/ctld.pid" ]; then
        timeout 10 scancel --user=root --quiet 2>/dev/null
        sleep 1
    fi
    for file in "$dir"/node*.pid; do end_process "$file" slurmd; done
    end_process "$dir/ctld.pid" slurmctld
    end_process "$dir/munge.pid" munged
}

start() {
    local dir=$1 nodes=$2 host port i up program
    [ "$(id -u)" = 0 ] || cannot "needs root"
    for program in munged slurmctld slurmd sbatch; do
        command -v "$program" >/dev/null || cannot "there is no $program; install munge, slurmctld, slurmd and slurm-client"
    done
    host=$(hostname -s)
    getent ahostsv4 "$host" | grep -q '^127\.' || cannot "the name of this machine, $host, does not mean 127.*"
    mkdir -p "$dir"/state "$dir"/spool "$dir"/log || fail "cannot write $dir"
    chmod 755 "$dir"
    # A port of its own for every run, so that two tests do not meet.
    port=$((20000 + $$ % 20000))
    (umask 077; head -c 256 /dev/urandom > "$dir/munge.key")
    cat > "$dir/slurm.conf" <<CONF
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A requeued job waits until its old credential has expired.
AuthInfo=socket=$dir/munge.socket,cred_expire=10
CredType=cred/munge
SlurmctldPort=$port
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/node-%n.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldLogFile=$dir/log/ctld.log
SlurmdLogFile=$dir/log/%n.log
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny,DisableIPv6
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=2
MinJobAge=300
CONF
    for i in $(seq "$nodes"); do
        echo "NodeName=v$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=1 State=UNKNOWN" >> "$dir/slurm.conf"
    done
    echo "PartitionName=virtual Nodes=v[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >> "$dir/slurm.conf"
    export SLURM_CONF=$dir/slurm.conf
    munged --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munge.pid" \
        --log-file="$dir/log/munge.log" --seed-file="$dir/munge.seed" || fail "munged does not start"
    slurmctld -f "$SLURM_CONF" || fail "slurmctld does not start"
    for i in $(seq "$nodes"); do slurmd -f "$SLURM_CONF" -N "v$i" || fail "slurmd does not start"; done
    for i in $(seq 150); do
        up=$(sinfo --noheader --Node --format=%T 2>/dev/null | grep -c '^idle$')
        [ "$up" = "$nodes" ] && { echo "$SLURM_CONF"; return 0; }
        sleep 0.2
    done
    tail -5 "$dir"/log/*.log >&2
    stop "$dir"
    fail "the nodes did not come up"
}

case ${1:-} in
    start) [ -n "${2:-}" ] || fail "which folder?"; start "$2" "${3:-2}" ;;
    stop) [ -n "${2:-}" ] || fail "which folder?"; stop "$2" ;;
    *) fail "usage: loopback-slurm.sh start DIR [NODES] | stop DIR" ;;
esac
