# Inputs lie in the cache of the account, and each task finds them under the names that its user gave them: hard links,
# or symbolic ones where the directory of the task lies on another filesystem, as of what was a directory.

cigri_furnish() { # false: why is told, and cigri_cause says whose fault it is
    cigri_leaving=''
    cigri_each_input && { ! command -v cigri_own_input >/dev/null || cigri_own_input; }
}

cigri_link() { # name in the cache, name for the task
    cigri_source=$cigri_dir/../../cache/$1 cigri_target=$CIGRI_WORKDIR/$2
    if [ -n "$cigri_leaving" ]; then
        [ ! "$cigri_source" -ef "$cigri_target" ] || rm -f -- "$cigri_target"
        case $2 in */*) (cd -- "$CIGRI_WORKDIR" && rmdir -p -- "${2%/*}") 2>/dev/null ;; esac
        return 0
    fi
    if [ ! -e "$cigri_source" ]; then
        cigri_cause=inputs
        cigri_tell "input $2 is not in the cache of this cluster any more; it is sent again"
        return 1
    fi
    case $2 in */*) mkdir -p -- "${cigri_target%/*}" ;; esac
    if [ ! -e "$cigri_target" ]; then
        [ -d "$cigri_source" ] || ln -- "$cigri_source" "$cigri_target" || ln -s -- "$cigri_source" "$cigri_target"
        [ ! -d "$cigri_source" ] || ln -s -- "$cigri_source" "$cigri_target"
    fi 2>/dev/null
    [ "$cigri_source" -ef "$cigri_target" ] || {
        cigri_cause=directory
        cigri_tell "input $2 cannot be put into $CIGRI_WORKDIR: something else has its name, or it cannot be written"
        return 1
    }
}

cigri_unfurnish() { # of a directory of its own: inputs are no outputs; it goes, too, if nothing else is there
    [ "$CIGRI_WORKDIR" = "$cigri_dir/$CIGRI_INDEX.$cigri_position.work" ] || return 0
    cigri_leaving=1
    cigri_each_input
    ! command -v cigri_own_input >/dev/null || cigri_own_input
    command -v cigri_wanted >/dev/null || rmdir -- "$CIGRI_WORKDIR" 2>/dev/null
}
