# Machine/Job Features (docs/reference/machine-job-features.md): what a job may know of its machine and itself, a file each value.
# What the site gives is left alone, and what nobody knows has no file. No process is started where the batch system
# gives the directories.

cigri_features() { # before the first task
    cigri_machine='' cigri_own='' cigri_told='' cigri_crew=''
    cigri_news=$cigri_dir/shutdown.$CIGRI_INDEX cigri_machine_news=$cigri_dir/machine.$CIGRI_INDEX
    cigri_measure
    if [ -n "$MACHINEFEATURES" ] && [ -n "$JOBFEATURES" ] && [ -n "$JOBSTATUS" ]; then
        cigri_news=- cigri_machine_news=-
    elif cigri_provide; then
        [ -n "$MACHINEFEATURES" ] || cigri_machine=$cigri_features/machinefeatures
        [ -n "$JOBFEATURES" ] || cigri_own=$cigri_features/jobfeatures
        [ -n "$cigri_own" ] || cigri_news=-
        [ -n "$cigri_machine" ] || cigri_machine_news=-
        if [ -n "$cigri_address" ]; then # tasks read what the portal tells; what is here is for the wrapper itself
            MACHINEFEATURES=${MACHINEFEATURES:-$cigri_address/$CIGRI_INDEX/machinefeatures}
            JOBFEATURES=${JOBFEATURES:-$cigri_address/$CIGRI_INDEX/jobfeatures}
        fi
        export MACHINEFEATURES="${MACHINEFEATURES:-$cigri_machine}" JOBFEATURES="${JOBFEATURES:-$cigri_own}"
        export JOBSTATUS="${JOBSTATUS:-$cigri_board}"
    else
        return 0
    fi
    cigri_describe
    [ "$cigri_features" != "$cigri_scratch" ] || [ -n "$cigri_address" ] || cigri_foresee
    cigri_let_read ${cigri_machine:+"$cigri_machine"} ${cigri_own:+"$cigri_own"}
    set -- "$JOBSTATUS $cigri_news $cigri_machine_news"
    [ "$1" = "$cigri_dir/status.$CIGRI_INDEX $cigri_dir/shutdown.$CIGRI_INDEX $cigri_dir/machine.$CIGRI_INDEX" ] ||
        cigri_append "features 2 $1 ." "journal.$CIGRI_INDEX"
}

cigri_provide() { # the three directories; the node's own disk, but for what the grid reads and writes while the job runs
    if [ -n "$cigri_features" ] && [ "$cigri_side" -eq 1 ]; then
        cigri_board=$cigri_features/jobstatus cigri_news=$cigri_features/jobfeatures/shutdowntime_job
        cigri_machine_news=$cigri_features/machinefeatures/shutdowntime
        return
    fi
    cigri_board=$cigri_dir/status.$CIGRI_INDEX cigri_space=''
    if [ -z "$cigri_scratch" ]; then
        cigri_scratch=${CIGRI_SCRATCH_BASE:-/tmp}/cigri-$cigri_grid-$cigri_batch-$CIGRI_INDEX
        [ "$cigri_side" -eq 1 ] || [ -z "$cigri_fresh" ] || cigri_scratch=$CIGRI_SCRATCH/features
        mkdir -m 700 -- "$cigri_scratch" || cigri_scratch=''
        [ -n "$cigri_scratch" ] || return
        mkdir -m 700 -- "$cigri_scratch/machinefeatures" "$cigri_scratch/jobfeatures" "$cigri_scratch/told" \
            "$cigri_board" || return
    fi
    cigri_features=$cigri_scratch
}

cigri_foresee() { # the front-end reaches no node's disk, but it can turn a link there: to what lists a shutdown, too
    cigri_listed=$cigri_features/told
    cp -R -- "$cigri_features/machinefeatures" "$cigri_features/jobfeatures" "$cigri_listed" &&
        ln -s -- "$cigri_machine_news" "$cigri_listed/machinefeatures/shutdowntime" &&
        ln -s -- "$cigri_news" "$cigri_listed/jobfeatures/shutdowntime_job" &&
        ln -s -- "$cigri_features" "host.$CIGRI_INDEX" && ln -s -- "$cigri_features" "own.$CIGRI_INDEX" || return 0
    [ -z "$cigri_machine" ] || MACHINEFEATURES=$cigri_dir/host.$CIGRI_INDEX/machinefeatures
    [ -z "$cigri_own" ] || JOBFEATURES=$cigri_dir/own.$CIGRI_INDEX/jobfeatures
}

cigri_let_read() { # what is in these directories the group that the site names; it may pass the one that they are in
    [ -n "$cigri_readers" ] && [ $# -gt 0 ] || return 0
    chgrp -Rh -- "$cigri_readers" "$@" && chmod -R g+rX -- "$@" &&
        chgrp -- "$cigri_readers" "${1%/*}" && chmod g+x -- "${1%/*}"
}

cigri_measure() { # what the batch system says of this job, or else what it was asked for
    cigri_first "$SLURM_JOB_START_TIME" $((cigri_started / 1000))
    cigri_start=$cigri_found
    cigri_first "$OAR_JOB_WALLTIME_SECONDS" "$cigri_walltime"
    cigri_limit=$cigri_found
    cigri_first "$SLURM_JOB_END_TIME" 0
    [ "$cigri_found" -le "$cigri_start" ] || [ -z "$SLURM_JOB_START_TIME" ] || cigri_limit=$((cigri_found - cigri_start))
    cigri_asked=$((cigri_cpu * cigri_hosts)) cigri_lines=''
    [ ! -r "$OAR_NODEFILE" ] || cigri_lines=$(wc -l <"$OAR_NODEFILE")
    if [ "$cigri_hosts" -eq 1 ]; then
        cigri_first "$SLURM_CPUS_ON_NODE" "${cigri_lines##* }" "$NSLOTS" "$cigri_asked"
    else
        cigri_first "${cigri_lines##* }" "$NSLOTS" "$cigri_asked"
    fi
    cigri_cores=$cigri_found
}

cigri_first() { # cigri_found: the first of these that is a number of a size that a shell can count with, or nothing
    for cigri_found; do
        case $cigri_found in *[!0-9]* | '' | 0?* | ???????????????*) ;; *) return ;; esac
    done
    cigri_found=
}

cigri_describe() {
    if [ -n "$cigri_own" ]; then
        [ "$CIGRI_REMOTE_ID" = - ] || printf '%s\n' "$CIGRI_REMOTE_ID" >"$cigri_own/job_id"
        printf '%s\n' "$cigri_cores" >"$cigri_own/allocated_cpu"
        printf '%s\n' "$cigri_limit" >"$cigri_own/wall_limit_secs"
        printf '%s\n' "$cigri_start" >"$cigri_own/jobstart_secs"
        printf '%s\n' "$cigri_grace" >"$cigri_own/grace_secs_job"
        cigri_limit_cpu
        cigri_limit_memory
        cigri_limit_space
    fi
    cigri_count_cpus
    if [ -n "$cigri_machine" ] && [ -n "$cigri_cpus" ]; then
        printf '%s\n' "$cigri_cpus" >"$cigri_machine/total_cpu"
    fi
    [ -z "$cigri_draft" ] || cigri_describe_draft
    if [ -n "$cigri_own" ] && [ -n "$cigri_hs06" ] && [ -n "$cigri_cpus" ]; then
        cigri_share=$((cigri_hs06 * cigri_cores / cigri_cpus))
        printf '%s.%03d\n' $((cigri_share / 1000)) $((cigri_share % 1000)) >"$cigri_own/hs06_job"
    fi
    cigri_declared
}

cigri_limit_cpu() { # of all processes together; the batch system that gives the directories sets no limit of its own
    cigri_seconds=$((cigri_limit * cigri_cores)) cigri_soft=
    if [ "$cigri_features" = "$cigri_scratch" ]; then
        { read -r cigri_skip && read -r cigri_skip cigri_skip cigri_skip cigri_soft cigri_skip; } <"/proc/$$/limits"
    fi
    cigri_first "$cigri_soft"
    [ "${cigri_found:-$cigri_seconds}" -ge "$cigri_seconds" ] || cigri_seconds=$cigri_found
    printf '%s\n' "$cigri_seconds" >"$cigri_own/cpu_limit_secs"
}

cigri_limit_memory() { # bytes; batch systems and descriptions count in MB of 1024 times 1024
    cigri_first "$SLURM_MEM_PER_NODE" ''
    cigri_bytes=$((cigri_found * 1048576))
    cigri_first "$SLURM_MEM_PER_CPU" ''
    [ "$cigri_bytes" -gt 0 ] || cigri_bytes=$((cigri_found * 1048576 * cigri_cores))
    [ "$cigri_bytes" -gt 0 ] || cigri_bytes=$((cigri_memory * 1048576))
    if [ -n "$OAR_JOB_ID$SLURM_JOB_ID" ]; then
        cigri_cgroup memory.max
        [ "$cigri_bytes" -gt 0 ] || cigri_bytes=${cigri_found:-0}
        cigri_cgroup memory.swap.max
        [ -z "$cigri_found" ] || printf '%s\n' "$cigri_found" >"$cigri_own/max_swap_bytes"
    fi
    [ "$cigri_bytes" -eq 0 ] || printf '%s\n' "$cigri_bytes" >"$cigri_own/max_rss_bytes"
}

cigri_cgroup() { # cigri_found: the limit of that name in the nearest control group that has one, or nothing
    cigri_found=
    while IFS=: read -r cigri_skip cigri_kinds cigri_group; do
        [ -n "$cigri_kinds" ] || break
        cigri_group=
    done <"/proc/$$/cgroup"
    while [ -n "${cigri_group#/}" ] && [ -z "$cigri_found" ]; do
        read -r cigri_line <"/sys/fs/cgroup$cigri_group/$1" || return 0
        cigri_first "$cigri_line"
        cigri_group=${cigri_group%/*}
    done
}

cigri_limit_space() { # bytes free where the job may leave temporary files
    cigri_first "$cigri_disk" "$cigri_space"
    cigri_space=$cigri_found
    if [ -z "$cigri_space" ]; then
        # shellcheck disable=SC2046 # the words of its last line
        set -- $(df -kP -- "${CIGRI_SCRATCH:-${TMPDIR:-/tmp}}" 2>/dev/null)
        while [ $# -gt 6 ]; do shift; done
        cigri_first "$4"
        [ -z "$cigri_found" ] || cigri_space=$((cigri_found * 1024))
    fi
    [ -z "$cigri_space" ] || printf '%s\n' "$cigri_space" >"$cigri_own/scratch_limit_bytes"
}

cigri_count_cpus() { # cigri_cpus: how many logical ones are in use, from a list as 0-3,8
    cigri_cpus=
    IFS= read -r cigri_line </sys/devices/system/cpu/online || return 0
    while [ -n "$cigri_line" ]; do
        cigri_range=${cigri_line%%,*}
        case $cigri_range in *[!0-9-]* | '' | *-*-*) cigri_cpus='' && return ;; esac
        cigri_cpus=$((cigri_cpus + ${cigri_range#*-} - ${cigri_range%-*} + 1))
        case $cigri_line in *,*) cigri_line=${cigri_line#*,} ;; *) cigri_line='' ;; esac
    done
}

cigri_describe_draft() { # the names of draft 0.99
    if [ -n "$cigri_own" ]; then
        printf '%s\n' "$cigri_cores" >"$cigri_own/allocated_CPU"
        printf '%s\n' "$((cigri_limit * ${cigri_factor:-1000} / 1000))" >"$cigri_own/wall_limit_secs_lrms"
        printf '%s\n' "$((cigri_seconds * ${cigri_factor:-1000} / 1000))" >"$cigri_own/cpu_limit_secs_lrms"
        [ -z "$cigri_factor" ] || printf '%s.%03d\n' $((cigri_factor / 1000)) \
            $((cigri_factor % 1000)) >"$cigri_own/cpufactor_lrms"
        [ "$cigri_bytes" -eq 0 ] || printf '%s\n' $((cigri_bytes / 1000000)) >"$cigri_own/mem_limit_MB"
        [ -z "$cigri_space" ] || printf '%s.%03d\n' $((cigri_space / 1000000000)) \
            $((cigri_space / 1000000 % 1000)) >"$cigri_own/disk_limit_GB"
    fi
    if [ -n "$cigri_machine" ] && [ -n "$cigri_cpus" ]; then
        printf '%s\n' "$cigri_cpus" >"$cigri_machine/log_cores"
        cigri_physical=0 cigri_cores_seen=' '
        for cigri_place in /sys/devices/system/cpu/cpu[0-9]*/topology; do
            { read -r cigri_core <"$cigri_place/core_id" && read -r cigri_socket <"$cigri_place/physical_package_id"; } ||
                continue
            case $cigri_cores_seen in *" $cigri_socket:$cigri_core "*) continue ;; esac
            cigri_cores_seen="$cigri_cores_seen$cigri_socket:$cigri_core " cigri_physical=$((cigri_physical + 1))
        done
        [ "$cigri_physical" -eq 0 ] || printf '%s\n' "$cigri_physical" >"$cigri_machine/phys_cores"
    fi
}

cigri_pilot() { # before each task: false when the job must be over before it could end
    [ "$cigri_size" -gt 1 ] || return 0
    cigri_second=$(((cigri_started + cigri_now - cigri_zero) / 1000))
    [ "$cigri_position" -eq 1 ] || cigri_has_time || return
    case $JOBSTATUS in /*) ;; *) return 0 ;; esac
    # in whole seconds nothing has changed, but that the last task allows no more after it
    [ "$cigri_second" != "$cigri_told" ] || [ "$cigri_position" -eq "$cigri_size" ] || return 0
    { flock -w 1 9 && cigri_update_status "$cigri_second"; } 9<>"$JOBSTATUS/used_CPU"
    return 0
}

cigri_has_time() { # a shutdown of the job or the machine is perhaps announced
    cigri_job_time=$cigri_news cigri_machine_time=$cigri_machine_news
    [ "$cigri_news" != - ] || cigri_job_time=$JOBFEATURES/shutdowntime_job
    [ "$cigri_machine_news" != - ] || cigri_machine_time=$MACHINEFEATURES/shutdowntime
    for cigri_time in "$cigri_job_time" "$cigri_machine_time"; do
        case $cigri_time in /*) [ -e "$cigri_time" ] || continue ;; *) continue ;; esac
        cigri_line=
        read -r cigri_line <"$cigri_time"
        cigri_first "$cigri_line"
        [ $((cigri_second + ${cigri_estimate:-0})) -lt "${cigri_found:-0}" ] || return 1
    done
}

cigri_update_status() { # the task that this shell has just begun, if any; used_CPU is locked, so it stays that file
    if [ ! -s "$JOBSTATUS/last_max_job_end" ]; then
        printf '%s\n' $((cigri_start + cigri_limit)) >"$JOBSTATUS/last_max_job_end"
        printf '%s\n' "$cigri_priority" >"$JOBSTATUS/priority_factor"
        printf 'True\n' >"$JOBSTATUS/can_postpone_last_job"
    fi
    cigri_told=$cigri_second
    [ "$cigri_position" -lt "$cigri_size" ] || printf 'False\n' >"$JOBSTATUS/can_postpone_last_job"
    cigri_begins=$1
    [ -z "$cigri_crew" ] || cigri_muster "$1"
    cigri_reckon $cigri_begins
}

cigri_reckon() { # the status of this pilot, by when each of the tasks began that run now
    cigri_share=$((cigri_cores / cigri_side)) cigri_line='' cigri_lost=0 cigri_ends=0
    [ ! -e "$JOBSTATUS/last_job_start" ] || read -r cigri_line <"$JOBSTATUS/last_job_start"
    cigri_first "$cigri_line" "$1" "$cigri_second"
    cigri_latest=$cigri_found
    for cigri_begin; do [ "$cigri_begin" -le "$cigri_latest" ] || cigri_latest=$cigri_begin; done
    cigri_soonest='' cigri_end_of_all=$cigri_second
    for cigri_begin; do
        cigri_lost=$((cigri_lost + cigri_latest - cigri_begin))
        cigri_due_at=$((cigri_begin + ${cigri_estimate:-0}))
        [ "$cigri_due_at" -ge "$cigri_second" ] || cigri_due_at=$cigri_second # it takes longer than it should
        [ "${cigri_soonest:-$cigri_due_at}" -lt "$cigri_due_at" ] || cigri_soonest=$cigri_due_at
        [ "$cigri_end_of_all" -ge "$cigri_due_at" ] || cigri_end_of_all=$cigri_due_at
        cigri_ends=$((cigri_ends + cigri_due_at))
    done
    cigri_soonest=${cigri_soonest:-$cigri_second}
    printf '%s\n' $((cigri_share * $#)) >"$JOBSTATUS/used_CPU"
    printf '%s\n' "$cigri_latest" >"$JOBSTATUS/last_job_start"
    printf '%s\n' $((cigri_share * cigri_lost)) >"$JOBSTATUS/add_uncom_time"
    [ -n "$cigri_estimate$cigri_crew" ] || printf '%s\n' 0 >"$JOBSTATUS/add_final_exp_waste"
    [ -n "$cigri_estimate" ] || return 0
    printf '%s\n' "$cigri_soonest" >"$JOBSTATUS/first_exp_job_end"
    printf '%s\n' "$cigri_end_of_all" >"$JOBSTATUS/last_exp_job_end"
    printf '%s\n' $((cigri_cores * (cigri_end_of_all - cigri_soonest) - \
        cigri_share * (cigri_ends - $# * cigri_soonest))) >"$JOBSTATUS/add_final_exp_waste"
}
