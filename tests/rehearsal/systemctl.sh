#!/bin/sh
# As much of systemctl as the documents ask for, where no systemd runs: it starts what a unit names,
# under its account, with its settings.
set -eu
units=/etc/systemd/system
read_unit() { sed -n "s/^$2=//p" "$units/$1.service" | head -n 1; }
start() {
    case $1 in
    postgresql) pg_ctlcluster 15 main start ;;
    redis-server) redis-server --daemonize yes --dir /var/lib/redis >/dev/null ;;
    nginx) nginx ;;
    *.timer) echo "$1 waits for its hour" ;;
    *)
        if grep -q '^Type=oneshot' "$units/$1.service"; then
            runuser -u "$(read_unit "$1" User)" -- sh -c "set -a; . $(read_unit "$1" EnvironmentFile); set +a; umask 077
                cd $(read_unit "$1" WorkingDirectory); exec $(read_unit "$1" ExecStart)"
            return
        fi
        install -d -o "$(read_unit "$1" User)" "/var/lib/$(read_unit "$1" StateDirectory)"
        runtime=$(read_unit "$1" RuntimeDirectory)
        [ -z "$runtime" ] || install -d -o "$(read_unit "$1" User)" "/run/$runtime"
        setsid runuser -u "$(read_unit "$1" User)" -- sh -c "set -a; $(read_unit "$1" Environment | grep . || echo :); . $(read_unit "$1" EnvironmentFile); set +a
            cd $(read_unit "$1" WorkingDirectory); exec $(read_unit "$1" ExecStart)" \
            </dev/null >"/var/log/$1.log" 2>&1 &
        ;;
    esac
}
case $1 in
daemon-reload) ;;
start) shift; for unit in "$@"; do start "$unit"; done ;;
enable) shift 2; for unit in "$@"; do start "$unit"; done ;;
restart) start "$2" ;;
*) echo "systemctl $1 is not rehearsed" >&2; exit 1 ;;
esac
