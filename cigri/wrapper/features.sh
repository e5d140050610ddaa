# Machine/Job Features (docs/machine-job-features.md): what a job may know of its machine and itself, a file each value.
# What the site gives is left alone, and what nobody knows has no file. No process is started where the batch system
# gives the directories.

cigri_features() { # before the first task
    cigri_machine='' cigri_own='' cigri_told='' cigri_news=$cigri_dir/shutdown.$CIGRI_INDEX
    cigri_measure
    if [ -n "$MACHINEFEATURES" ] && [ -n "$JOBFEATURES" ] && [ -n "$JOBSTATUS" ]; then
        cigri_news=-
    elif cigri_provide; then
        [ -n "$MACHINEFEATURES" ] || cigri_machine=$cigri_features/machinefeatures
        [ -n "$JOBFEATURES" ] || cigri_own=$cigri_features/jobfeatures
        [ -n "$cigri_own" ] || cigri_news=-
        export MACHINEFEATURES="${MACHINEFEATURES:-$cigri_machine}" JOBFEATURES="${JOBFEATURES:-$cigri_own}"
        export JOBSTATUS="${JOBSTATUS:-$cigri_board}"
    else
        return 0
    fi
    cigri_describe
    [ "$JOBSTATUS $cigri_news" = "$cigri_dir/status.$CIGRI_INDEX $cigri_dir/shutdown.$CIGRI_INDEX" ] ||
        cigri_append "features 1 $JOBSTATUS $cigri_news ." "journal.$CIGRI_INDEX"
}

cigri_provide() { # the three directories; the node's own disk, but for what the grid reads and writes while the job runs
    if [ -n "$cigri_features" ]; then
        cigri_board=$cigri_features/jobstatus cigri_news=$cigri_features/jobfeatures/shutdowntime_job
        return
    fi
    cigri_board=$cigri_dir/status.$CIGRI_INDEX cigri_space=''
    if [ -z "$cigri_scratch" ]; then
        cigri_scratch=${CIGRI_SCRATCH_BASE:-/tmp}/cigri-$cigri_grid-$cigri_batch-$CIGRI_INDEX
        mkdir -m 700 -- "$cigri_scratch" || cigri_scratch=''
        [ -n "$cigri_scratch" ] || return
        mkdir -m 700 -- "$cigri_scratch/machinefeatures" "$cigri_scratch/jobfeatures" "$cigri_board" || return
    fi
    cigri_features=$cigri_scratch
    ln -s -- "$cigri_news" "$cigri_features/jobfeatures/shutdowntime_job"
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

cigri_limit_memory() { # bytes; of a figure in MB at least 1000000 each are granted
    cigri_first "$SLURM_MEM_PER_NODE" ''
    cigri_bytes=$((cigri_found * 1048576))
    cigri_first "$SLURM_MEM_PER_CPU" ''
    [ "$cigri_bytes" -gt 0 ] || cigri_bytes=$((cigri_found * 1048576 * cigri_cores))
    [ "$cigri_bytes" -gt 0 ] || cigri_bytes=$((cigri_memory * 1000000))
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
        printf '%s\n' "$((cigri_limit * cigri_factor / 1000))" >"$cigri_own/wall_limit_secs_lrms"
        printf '%s\n' "$((cigri_seconds * cigri_factor / 1000))" >"$cigri_own/cpu_limit_secs_lrms"
        printf '%s.%03d\n' $((cigri_factor / 1000)) $((cigri_factor % 1000)) >"$cigri_own/cpufactor_lrms"
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
    { flock -w 1 9 && cigri_tell; } 9<>"$JOBSTATUS/used_CPU"
    return 0
}

cigri_has_time() { # a shutdown of the job or the machine is perhaps announced
    for cigri_news in "$JOBFEATURES/shutdowntime_job" "$MACHINEFEATURES/shutdowntime"; do
        case $cigri_news in /*) [ -e "$cigri_news" ] || continue ;; *) continue ;; esac
        cigri_line=
        read -r cigri_line <"$cigri_news"
        cigri_first "$cigri_line"
        [ $((cigri_second + ${cigri_estimate:-0})) -lt "${cigri_found:-0}" ] || return 1
    done
}

cigri_tell() { # the status of this pilot, whose tasks run one after the other; used_CPU is locked, so it stays that file
    if [ -z "$cigri_told" ]; then
        printf '%s\n' "$cigri_cores" >"$JOBSTATUS/used_CPU"
        printf '%s\n' $((cigri_start + cigri_limit)) >"$JOBSTATUS/last_max_job_end"
        printf '%s\n' 0 >"$JOBSTATUS/add_uncom_time"
        printf '%s\n' 0 >"$JOBSTATUS/add_final_exp_waste"
        printf '%s\n' "$cigri_priority" >"$JOBSTATUS/priority_factor"
        printf 'True\n' >"$JOBSTATUS/can_postpone_last_job"
    fi
    cigri_told=$cigri_second
    printf '%s\n' "$cigri_second" >"$JOBSTATUS/last_job_start"
    [ "$cigri_position" -lt "$cigri_size" ] || printf 'False\n' >"$JOBSTATUS/can_postpone_last_job"
    if [ -n "$cigri_estimate" ]; then
        printf '%s\n' $((cigri_second + cigri_estimate)) >"$JOBSTATUS/first_exp_job_end"
        printf '%s\n' $((cigri_second + cigri_estimate)) >"$JOBSTATUS/last_exp_job_end"
    fi
}
