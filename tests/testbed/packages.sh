# shellcheck shell=bash
# How Debian's packages are installed: all at once, no service started by them, waiting for whoever else installs. Sourced, never run.

APT_PATIENCE=${CIGRI_APT_PATIENCE:-600}     # seconds to wait for the locks of others (a fresh machine upgrades itself)
APT_LOG=$STATE/apt.log
NO_SERVICES=/usr/sbin/policy-rc.d

install_packages() { # PACKAGE...
    local missing=() package made='' failed=''
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} != 0 ] || return 0
    command -v apt-get >/dev/null || cannot "these packages are missing and there is no apt-get: ${missing[*]}"
    say "installing ${missing[*]}"
    [ -e "$NO_SERVICES" ] || { printf '#!/bin/sh\nexit 101\n' >"$NO_SERVICES"; chmod 755 "$NO_SERVICES"; made=1; }
    local install=(install -y --no-install-recommends "${missing[@]}")
    apt "${install[@]}" || { apt update && apt "${install[@]}"; } || failed=1
    [ -z "$made" ] || rm -f "$NO_SERVICES"
    [ -z "$failed" ] || { tail -5 "$APT_LOG" >&2; cannot "packages cannot be installed (${missing[*]}), see $APT_LOG"; }
}

apt() {        # WORDS OF apt-get...: its own time-out is for dpkg's lock alone, not for that of the package lists
    local end=$((SECONDS + APT_PATIENCE))
    until env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -o DPkg::Lock::Timeout="$APT_PATIENCE" -o Dpkg::Use-Pty=0 \
        "$@" </dev/null >"$APT_LOG" 2>&1 9>&-; do
        grep -q 'Could not get lock' "$APT_LOG" && [ $SECONDS -lt $end ] || return 1
        sleep 1
    done
}
