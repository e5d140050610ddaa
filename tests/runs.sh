# shellcheck shell=sh
# A run of scripts/test is a directory; what it starts has that path among its arguments or in its environment, and ends with it.

begun_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }  # PID: with it, it names one process for ever
processes_of() { # DIRECTORY of a run: all that were started with its path among their arguments or in their environment
    printf '%s/\n' "$1" | env -u TEST_RUN grep -lF -f - /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | sort -u
}
within() { # NAMESPACE: the processes that are in it
    { find /proc/[0-9]*/ns/net -maxdepth 0 -printf '%p %l\n' 2>/dev/null || :; } |
        awk -F '[/ ]' -v wanted="$1" '$NF == wanted { print $3 }'
}
end_clusters() { # DIRECTORY of a run: all that is in the network namespace of its testbed, the process that holds it last
    read -r holder begun 2>/dev/null <"$1/namespace" || return 0
    [ "$(begun_at "$holder")" = "$begun" ] || return 0
    namespace=$(readlink "/proc/$holder/ns/net")
    for signal in TERM KILL; do
        # shellcheck disable=SC2046
        kill -$signal $(within "$namespace" | grep -vx "$holder") 2>/dev/null || :
        sleep 0.5
    done
    kill -KILL "$holder"
}
end_run() { # DIRECTORY: servers and daemons of its tests, and of its clusters, too
    end_clusters "$1"
    for signal in TERM KILL; do
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            left=$(processes_of "$1")
            [ -n "$left" ] || break 2
            # shellcheck disable=SC2086
            kill -$signal $left 2>/dev/null || :
            sleep 0.3
        done
    done
    rm -rf "$1"
}
end_dead_runs() { # DIRECTORY OF RUNS: what those have left that were killed
    for old in "$1"/cigri-test-*; do
        read -r pid begun 2>/dev/null <"$old/owner" || continue
        [ "$(begun_at "$pid")" = "$begun" ] || { echo "Ending what a run of before has left in $old." >&2; end_run "$old"; }
    done
}
