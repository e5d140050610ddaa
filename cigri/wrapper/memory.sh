# Peak memory: beside each job (each worker, where tasks run side by side) a watcher, which writes down the most that it
# has seen of each child of the wrapper with all below it. It is begun after the first task, looks ten times after a
# second each, then every five, and a look forks nothing but `sleep`: a job whose tasks take no second costs one fork
# more. What a process took between two looks is seen in VmHWM. There is no watcher where the batch system keeps the
# file of peaks (cigri_peaks), and where the kernel tells no children nothing is known.

cigri_observe() { # once the first task runs
    cigri_here
    [ -n "$cigri_scratch" ] && [ -r "/proc/$cigri_me/task/$cigri_me/children" ] || return 0
    [ "$cigri_me" = $$ ] || [ "$cigri_over" = $$ ] || return 0 # else /proc is that of other processes
    cigri_peaks=$cigri_scratch/peaks${cigri_worker:+.$cigri_worker}
    (
        trap '' HUP INT USR1 USR2 XCPU
        cigri_parent=$cigri_me cigri_looks=0 cigri_seen=''
        while sleep $((cigri_looks < 10 ? 1 : 5)); do
            cigri_here
            [ "$cigri_over" = "$cigri_parent" ] || exit # the job was killed without a word
            cigri_looks=$((cigri_looks + 1))
            cigri_survey
        done
    ) </dev/null >/dev/null 2>&1 &
    cigri_observer=$!
}

cigri_survey() { # a line "PROCESS KILOBYTES ." for each child that has more than before, by a hundredth
    cigri_children='' cigri_now_seen=''
    read -r cigri_children <"/proc/$cigri_parent/task/$cigri_parent/children"
    for cigri_child in $cigri_children; do
        [ "$cigri_child" != "$cigri_me" ] || continue
        cigri_peak=0
        case " $cigri_seen " in
        *" $cigri_child:"*)
            cigri_peak=${cigri_seen##*" $cigri_child:"}
            cigri_peak=${cigri_peak%% *}
            ;;
        esac
        cigri_descend "$cigri_child"
        cigri_amount $cigri_family
        if [ "$cigri_found" -gt $((cigri_peak + cigri_peak / 100)) ]; then
            cigri_peak=$cigri_found
            printf '%s\n' "$cigri_child $cigri_found ." >>"$cigri_peaks"
        fi
        cigri_now_seen="$cigri_now_seen $cigri_child:$cigri_peak"
    done
    cigri_seen=$cigri_now_seen # of those only that are there: a number may come again
}

cigri_descend() { # cigri_family: process $1 and all below it; what outlives its parents is below them no more
    cigri_family=''
    while [ $# -gt 0 ]; do
        cigri_family="$cigri_family $*" cigri_below=''
        for cigri_one; do
            for cigri_file in "/proc/$cigri_one/task"/*/children; do
                cigri_some=''
                read -r cigri_some <"$cigri_file"
                cigri_below="$cigri_below $cigri_some"
            done
        done
        set -- $cigri_below
    done
}

cigri_amount() { # cigri_found: KB of these processes; what they share counts once, if the kernel tells it (Pss)
    cigri_found=0 cigri_most=0
    for cigri_one; do
        cigri_weight status VmRSS: VmHWM:
        cigri_found=$((cigri_found + cigri_has))
        [ "$cigri_high" -le "$cigri_most" ] || cigri_most=$cigri_high
    done
    if [ $# -gt 1 ] && [ "$cigri_found" -gt "$cigri_peak" ]; then # costs the more the larger they are
        cigri_found=0
        for cigri_one; do
            cigri_weight smaps_rollup Pss: ''
            [ "$cigri_has" -gt 0 ] || cigri_weight status VmRSS: ''
            cigri_found=$((cigri_found + cigri_has))
        done
    fi
    [ "$cigri_found" -ge "$cigri_most" ] || cigri_found=$cigri_most
}

cigri_weight() { # cigri_has and cigri_high: KB of process cigri_one, in its file $1 after the words $2 and $3
    cigri_has=0 cigri_high=0
    while read -r cigri_key cigri_value cigri_skip; do # to the end: bash keeps what is left of a file
        case $cigri_key in
        "$2") cigri_has=$cigri_value ;;
        "$3") cigri_high=$cigri_value ;;
        esac
    done <"/proc/$cigri_one/$1"
}

cigri_unlearn() { # the peaks of the tasks before; no fork, and no write where none was seen
    [ -z "$cigri_observer" ] || [ ! -s "$cigri_peaks" ] || { :; } 2>/dev/null >"$cigri_peaks"
}

cigri_recall() { # cigri_found: the most that process $1 was seen with, in KB; "" where nobody has seen it
    cigri_found=''
    [ -s "$cigri_peaks" ] || return 0
    while read -r cigri_key cigri_value cigri_skip; do
        [ "$cigri_key $cigri_skip" != "$1 ." ] || cigri_found=$cigri_value
    done 2>/dev/null <"$cigri_peaks"
    case $cigri_found in 0* | *[!0-9]* | ?????????????*) cigri_found='' ;; esac
}
