# shellcheck shell=bash
# A real sshd as front-end of a cluster, on the cluster's own address; keys only, known_hosts and a client's config.

SSH_PORT=22022

sshd_up() {    # NAME
    local name=$1 st=$STATE/$1 ssh=$STATE/ssh user environment
    ! pid_of "$name" sshd >/dev/null || return 0
    mkdir -p "$ssh"/{keys,authorized} /run/sshd; chmod 755 "$ssh" "$ssh"/*
    for user in $USERS $GATEWAY; do            # one key pair per user, the same on every cluster
        [ -s "$ssh/keys/$user" ] || ssh-keygen -q -t ed25519 -N '' -C "$user@testbed" -f "$ssh/keys/$user"
        install -m 644 "$ssh/keys/$user.pub" "$ssh/authorized/$user"
    done
    [ -s "$st/etc/host_key" ] || ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$st/etc/host_key"
    chmod 600 "$st/etc/host_key"
    environment=$("${KIND[$name]}_environment" "$name")
    cat >"$st/etc/sshd_config" <<END
ListenAddress $(address "$name")
Port $SSH_PORT
HostKey $st/etc/host_key
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers $USERS $GATEWAY
AuthorizedKeysFile $ssh/authorized/%u
UseDNS no
PrintMotd no
Subsystem sftp /usr/lib/openssh/sftp-server
${environment:+SetEnv $environment}
END
    start "$name" sshd /usr/sbin/sshd -D -e -f "$st/etc/sshd_config"
    sshd_client_files
    until_true 20 "sshd of $name" ssh -n -F "$ssh/config" "alice@$name" true
}

sshd_client_files() { # $STATE/ssh/{config,known_hosts} for every cluster that has a host key
    local ssh=$STATE/ssh name user
    : >"$ssh/config.new"; : >"$ssh/known_hosts.new"
    for name in "${!NUMBER[@]}"; do
        [ -s "$STATE/$name/etc/host_key.pub" ] || continue
        printf '[%s]:%s %s\n' "$(address "$name")" $SSH_PORT "$(cut -d' ' -f1,2 "$STATE/$name/etc/host_key.pub")" >>"$ssh/known_hosts.new"
        printf 'Host %s\n    HostName %s\n    Port %s\n' "$name" "$(address "$name")" $SSH_PORT >>"$ssh/config.new"
    done
    for user in $USERS $GATEWAY; do printf 'Match user %s\n    IdentityFile %s\n' "$user" "$ssh/keys/$user" >>"$ssh/config.new"; done
    printf 'Host *\n    IdentitiesOnly yes\n    BatchMode yes\n    StrictHostKeyChecking yes\n    UserKnownHostsFile %s\n    ConnectTimeout 10\n' \
        "$ssh/known_hosts" >>"$ssh/config.new"
    chmod 644 "$ssh"/*.new
    mv "$ssh/config.new" "$ssh/config"; mv "$ssh/known_hosts.new" "$ssh/known_hosts"
}

sshd_sessions() { # NAME: pids of sshd and of all its sessions
    local pid
    for pid in $(members "$1"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != sshd ] || echo "$pid"
    done
}
