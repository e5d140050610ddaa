# Sharing: directories that are made for tasks to run in are those of a group, where a campaign shares its outputs. What
# was there keeps its mode.

cigri_place_shared() {
    if [ "$CIGRI_WORKDIR" = "$cigri_dir/$CIGRI_INDEX.$cigri_position.work" ]; then
        mkdir -- "$CIGRI_WORKDIR" 2>"$CIGRI_INDEX.$cigri_position.err" # in a directory of the account's alone
    else
        cigri_step "${CIGRI_WORKDIR%"${CIGRI_WORKDIR##*[!/]}"}" && [ -x "$CIGRI_WORKDIR" ]
    fi
}

cigri_step() { # a directory, after those above it; of jobs that make it at the same time one does, and shares it
    [ ! -d "$1" ] || return 0
    case $1 in /*/*) cigri_step "${1%"/${1##*/}"}" || return ;; esac
    if ! mkdir -- "$1" 2>>"$CIGRI_INDEX.$cigri_position.err"; then
        [ -d "$1" ]
        return
    fi
    cigri_said=$( { [ -z "$cigri_given" ] || chgrp -- "$cigri_given" "$1"; } 2>&1 && chmod "$cigri_mode" "$1" 2>&1) ||
        cigri_note="outputs_mode: $1 on $CIGRI_NODE stays yours alone: $cigri_said" # the task's standard error begins anew
    return 0
}

