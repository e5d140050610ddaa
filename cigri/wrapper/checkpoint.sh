# Checkpoints: beside each task a watcher, which signals it before the walltime, periodically, and on request.
# It stands before the wrapper (job.sh) where the campaign has checkpoints. The signal goes to the task if that has a
# handler, else to those of its children that have one: who does not listen, or not yet, would only die of it.

cigri_find() { # cigri_listeners: the process, or those below it
    if [ ! -r /proc/self/status ] || cigri_listens "$1"; then
        cigri_listeners="$cigri_listeners $1"
        return
    fi
    cigri_all=
    for cigri_file in /proc/"$1"/task/*/children; do
        cigri_some=
        read -r cigri_some <"$cigri_file"
        cigri_all="$cigri_all $cigri_some"
    done
    for cigri_child in $cigri_all; do cigri_find "$cigri_child"; done
}

cigri_seek() { # twice: a child that was forked meanwhile has the handlers that its parent got once we had looked at it
    cigri_listeners=
    cigri_find "$1"
    [ -n "$cigri_listeners" ] || return 0
    cigri_listeners=
    cigri_find "$1"
}

cigri_listens() {
    cigri_handled=0
    while read -r cigri_key cigri_mask; do # to the end: bash keeps what is left of a file that is gone
        [ "$cigri_key" != SigCgt: ] || cigri_handled=0x${cigri_mask#????????}
    done <"/proc/$1/status"
    [ $((cigri_handled >> (cigri_number - 1) & 1)) -eq 1 ]
}

cigri_ask_is_due() {
    { [ -n "$cigri_due" ] && [ "$cigri_now" -ge "$cigri_due" ]; } ||
        { [ -n "$cigri_next" ] && [ "$cigri_now" -ge "$cigri_next" ]; } ||
        [ -e "$cigri_dir/checkpoint.$CIGRI_INDEX" ]
}

cigri_ask() { # the signal comes last: the task may end of it, and the watcher with it
    [ -z "$cigri_due" ] || [ "$cigri_now" -lt "$cigri_due" ] || cigri_due=
    [ -z "$cigri_next" ] || cigri_next=$((cigri_now + cigri_period * 1000))
    rm -f "$cigri_dir/checkpoint.$CIGRI_INDEX"
    kill "-$cigri_checkpoint" $cigri_listeners
}

cigri_doze() { # 5 seconds, or until the time that comes first
    cigri_wait=5
    for cigri_time in $cigri_due $cigri_next; do
        cigri_left=$(((cigri_time - cigri_now + 999) / 1000))
        [ "$cigri_left" -le 0 ] || [ "$cigri_left" -ge "$cigri_wait" ] || cigri_wait=$cigri_left
    done
    sleep "$cigri_wait"
}

cigri_mind() { # the running task; whoever kills the wrapper need not know of the watcher
    [ -z "$cigri_halted" ] || return 0
    cigri_due=$((cigri_zero + (cigri_walltime - cigri_before) * 1000))
    (
        trap '' HUP INT USR1 USR2 XCPU
        cigri_clock
        cigri_next=${cigri_period:+$((cigri_now + cigri_period * 1000))}
        while cigri_doze && kill -0 "$$" && kill -0 "$cigri_pid"; do # first a nap: for an instant the task is still sh
            cigri_clock
            if cigri_ask_is_due; then
                cigri_seek "$cigri_pid"
                [ -z "$cigri_listeners" ] || cigri_ask
            fi
        done
    ) </dev/null >/dev/null 2>&1 &
    cigri_minder=$!
}

cigri_unmind() { # the task has ended; none is begun that would be asked to stop at once
    cigri_dismiss "$cigri_minder"
    cigri_minder=
    cigri_clock
    [ "$cigri_now" -lt "$cigri_due" ] || cigri_halted=${cigri_halted:-walltime}
}
