# Inputs lie in the cache of the account, and each task finds them under the names that its user gave them: hard links,
# or symbolic ones where the directory of the task lies on another filesystem, as of what was a directory.

cigri_furnish() { # false: why is told, and cigri_cause says whose fault it is
    cigri_leaving=''
    cigri_each_input && { ! command -v cigri_own_input >/dev/null || cigri_own_input; }
}

cigri_link() { # name in the cache, name for the task, names in the cache of what had its place before
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
    cigri_given=$2
    shift 2
    [ "$cigri_source" -ef "$cigri_target" ] || cigri_overtake "$@" || {
        cigri_cause=directory
        ! cigri_is_overtaken "$cigri_given" || cigri_cause=inputs
        case $cigri_cause in
        inputs) cigri_tell "input $cigri_given has been replaced in $CIGRI_WORKDIR: the task is sent again with the new one" ;;
        *) cigri_tell "input $cigri_given cannot be put into $CIGRI_WORKDIR: something else has its name, or it cannot be written" ;;
        esac
        return 1
    }
}

# In a directory that tasks share lies what the campaign had before. The new one takes its place by rename(2), so that a
# task which another one has overtaken finds either at any moment; and mv refuses two names of one file.
cigri_overtake() { # names in the cache of what had its place before; false: it is something else that lies there
    cigri_is_earlier "$@" || {
        [ "$cigri_source" -ef "$cigri_target" ] # by now
        return
    }
    cigri_beside=$cigri_target.cigri-$cigri_batch-$CIGRI_INDEX-$cigri_position
    rm -f -- "$cigri_beside"
    [ -d "$cigri_source" ] || ln -- "$cigri_source" "$cigri_beside" 2>/dev/null || ln -s -- "$cigri_source" "$cigri_beside"
    [ ! -d "$cigri_source" ] || ln -s -- "$cigri_source" "$cigri_beside"
    mv -fT -- "$cigri_beside" "$cigri_target" || [ -d "$cigri_target" ] || mv -f -- "$cigri_beside" "$cigri_target"
    rm -f -- "$cigri_beside"
    [ "$cigri_source" -ef "$cigri_target" ]
} 2>/dev/null

cigri_is_earlier() { # the cache may have lost it: then its sum tells
    cigri_sum=''
    for cigri_old in "$@"; do
        [ ! "$cigri_dir/../../cache/$cigri_old" -ef "$cigri_target" ] || return 0
        if [ -L "$cigri_target" ]; then
            case $(readlink -- "$cigri_target") in */cache/"$cigri_old") return 0 ;; esac
        elif [ -f "$cigri_target" ]; then
            [ -n "$cigri_sum" ] || cigri_sum=$(cigri_sum_of "$cigri_target")
            [ "${cigri_sum%% *}" != "$cigri_old" ] || return 0
        fi
    done
    return 1
}

cigri_is_overtaken() { # does what a later batch of the campaign has put there lie in the place of this input?
    find "$cigri_dir/.." -name job -type f -exec sed -n 's/^    cigri_link \([0-9a-f.d]*\) .*/\1/p' {} + 2>/dev/null |
        sort -u | while read -r cigri_old; do
        [ ! "$cigri_dir/../../cache/$cigri_old" -ef "$cigri_target" ] || echo there
    done | grep -q there
}

cigri_unfurnish() { # of a directory of its own: inputs are no outputs; it goes, too, if nothing else is there
    [ "$CIGRI_WORKDIR" = "$cigri_dir/$CIGRI_INDEX.$cigri_position.work" ] || return 0
    cigri_leaving=1
    cigri_each_input
    ! command -v cigri_own_input >/dev/null || cigri_own_input
    command -v cigri_wanted >/dev/null || rmdir -- "$CIGRI_WORKDIR" 2>/dev/null
}
