-- A grid at 0075 as the migrations 0001 to 0075 made it, with rows in 29 tables: pg_dump -xO of commit 35b20347,
-- without its comments. A campaign of alice's with tasks done, failed, running, held and waiting, and one of bob's.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE TYPE public.after_when AS ENUM (
    'success',
    'end',
    'failure'
);
CREATE TYPE public.batch_state AS ENUM (
    'launching',
    'submitted',
    'void'
);
CREATE TYPE public.campaign_state AS ENUM (
    'in_treatment',
    'terminated',
    'cancelled'
);
CREATE TYPE public.campaign_type AS ENUM (
    'default',
    'test'
);
CREATE TYPE public.channel AS ENUM (
    'mail',
    'exec',
    'webhook'
);
CREATE TYPE public.cut_reason AS ENUM (
    'waiting_limit',
    'max_jobs',
    'trial',
    'scouts',
    'limit',
    'quota_cores',
    'quota_jobs',
    'quota_core_hours',
    'full',
    'order',
    'reserved',
    'forecast',
    'stress',
    'max_queued',
    'share',
    'tests',
    'queue_limit'
);
CREATE TYPE public.event_level AS ENUM (
    'info',
    'warning',
    'error'
);
CREATE TYPE public.job_kind AS ENUM (
    'tasks',
    'prologue',
    'epilogue'
);
CREATE TYPE public.job_state AS ENUM (
    'to_launch',
    'launching',
    'submitted',
    'running',
    'ended'
);
CREATE TYPE public.kill_reason AS ENUM (
    'user',
    'flood',
    'waiting_too_long',
    'walltime',
    'drain',
    'hours',
    'superseded',
    'fairness',
    'listed_again',
    'not_started',
    'cannot_start'
);
CREATE TYPE public.message_state AS ENUM (
    'waiting',
    'sent',
    'failed'
);
CREATE TYPE public.outcome AS ENUM (
    'success',
    'doubtful',
    'resubmit',
    'resubmit_end',
    'checkpointed',
    'failure',
    'walltime',
    'out_of_memory',
    'preempted',
    'node_failure',
    'lost',
    'killed',
    'withdrawn',
    'refused',
    'superseded'
);
CREATE TYPE public.property_level AS ENUM (
    'grid',
    'driver',
    'site',
    'cluster',
    'queue'
);
CREATE TYPE public.reject_code AS ENUM (
    'absent',
    'different',
    'too_small',
    'too_large',
    'site',
    'banned_site',
    'expression',
    'job_refused',
    'not_selectable',
    'unknown'
);
CREATE TYPE public.scope AS ENUM (
    'read',
    'submit',
    'operate'
);
CREATE TYPE public.severity AS ENUM (
    'low',
    'medium',
    'high'
);
CREATE TYPE public.step_state AS ENUM (
    'none',
    'waiting',
    'running',
    'done',
    'failed'
);
CREATE TYPE public.subject_kind AS ENUM (
    'user',
    'project'
);
CREATE TYPE public.task_state AS ENUM (
    'blocked',
    'waiting',
    'assigned',
    'done',
    'failed',
    'cancelled'
);
CREATE FUNCTION public.count_tasks() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, count(*), count(expected), coalesce(sum(expected), 0)
            FROM new_tasks GROUP BY campaign_id, state;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, -count(*), -count(expected), -coalesce(sum(expected), 0)
            FROM old_tasks GROUP BY campaign_id, state;
    ELSE
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, sum(n), coalesce(sum(n) FILTER (WHERE expected IS NOT NULL), 0),
                   coalesce(sum(n * expected), 0)
            FROM (
                SELECT campaign_id, state, expected, 1 AS n FROM new_tasks
                UNION ALL SELECT campaign_id, state, expected, -1 FROM old_tasks
            ) AS moved GROUP BY campaign_id, state
            HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE expected IS NOT NULL) <> 0;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION public.forget_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    newest audit;
BEGIN
    SELECT * INTO newest FROM old_entries ORDER BY id DESC LIMIT 1;
    IF newest IS NULL THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT FROM audit WHERE id < newest.id) THEN
        RAISE EXCEPTION 'of the audit trail only the oldest entries are removed';
    END IF;
    IF EXISTS (SELECT FROM old_entries WHERE at > now() - interval '1 day') THEN
        RAISE EXCEPTION 'entries of the audit trail are kept for a day at least';
    END IF;
    UPDATE audit_chain SET removed_id = newest.id, removed_hash = newest.hash, removed_until = newest.at;
    RETURN NULL;
END $$;
CREATE FUNCTION public.keep_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is only added to; the janitor removes its oldest entries';
END $$;
CREATE FUNCTION public.keep_audit_chain() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR pg_trigger_depth() < 2 THEN
        RAISE EXCEPTION 'the chain of the audit trail is changed with its entries only';
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION public.link_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    previous text;
BEGIN
    UPDATE audit_chain SET last_id = last_id + 1 RETURNING last_id, last_hash INTO NEW.id, previous;
    NEW.hash := encode(sha256(convert_to(previous || jsonb_build_array(
        NEW.id, to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
        NEW.grid_user, NEW.how, NEW.endpoint, NEW.asked
    )::text, 'UTF8')), 'hex');
    UPDATE audit_chain SET last_hash = NEW.hash;
    RETURN NEW;
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.accounting (
    id bigint NOT NULL,
    day timestamp with time zone NOT NULL,
    grid_user text NOT NULL,
    project text NOT NULL,
    cluster text NOT NULL,
    outcome public.outcome NOT NULL,
    is_replica boolean NOT NULL,
    jobs bigint NOT NULL,
    core_seconds double precision NOT NULL,
    is_sum boolean DEFAULT false NOT NULL,
    type text DEFAULT ''::text NOT NULL,
    asked double precision DEFAULT '0'::double precision NOT NULL
);
ALTER TABLE public.accounting ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounting_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.affinities (
    grid_user text NOT NULL,
    cluster_id bigint NOT NULL
);
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.archived_accounting (
    id bigint NOT NULL,
    day timestamp with time zone NOT NULL,
    grid_user text NOT NULL,
    project text NOT NULL,
    cluster text NOT NULL,
    outcome public.outcome NOT NULL,
    is_replica boolean NOT NULL,
    jobs bigint NOT NULL,
    core_seconds double precision NOT NULL,
    type text DEFAULT ''::text NOT NULL,
    asked double precision DEFAULT '0'::double precision NOT NULL
);
ALTER TABLE public.archived_accounting ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.archived_accounting_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.attempts (
    task_id bigint NOT NULL,
    number bigint NOT NULL,
    job_id bigint NOT NULL,
    "position" bigint NOT NULL,
    is_replica boolean DEFAULT false NOT NULL,
    outcome public.outcome,
    exit_code bigint,
    started_at timestamp with time zone,
    seconds double precision,
    files bigint DEFAULT '0'::bigint NOT NULL,
    bytes bigint DEFAULT '0'::bigint NOT NULL,
    halted_seconds double precision DEFAULT '0'::double precision NOT NULL
);
CREATE TABLE public.audit (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    grid_user text NOT NULL,
    how text NOT NULL,
    endpoint text NOT NULL,
    asked jsonb NOT NULL,
    hash text NOT NULL
);
CREATE TABLE public.audit_chain (
    one boolean NOT NULL,
    last_id bigint DEFAULT '0'::bigint NOT NULL,
    last_hash text DEFAULT ''::text NOT NULL,
    removed_id bigint DEFAULT '0'::bigint NOT NULL,
    removed_hash text DEFAULT ''::text NOT NULL,
    removed_until timestamp with time zone,
    CONSTRAINT ck_audit_chain_one_row CHECK (one)
);
ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.batches (
    id bigint NOT NULL,
    tag text NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    local_user text NOT NULL,
    state public.batch_state NOT NULL,
    size bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    checkpoint_period bigint,
    checkpoint_life double precision,
    checkpoint_cost double precision,
    promised_notice bigint,
    inputs_version bigint DEFAULT '1'::bigint NOT NULL,
    served_features jsonb,
    CONSTRAINT ck_batches_checkpoint CHECK (((num_nulls(checkpoint_period, checkpoint_life, checkpoint_cost) = ANY (ARRAY[0, 3])) AND (checkpoint_period > 0))),
    CONSTRAINT ck_batches_settled CHECK (((state = 'launching'::public.batch_state) = (settled_at IS NULL))),
    CONSTRAINT ck_batches_size CHECK ((size > 0))
);
ALTER TABLE public.batches ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.batches_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.bucket_averages (
    bucket_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    weight bigint NOT NULL,
    seconds double precision NOT NULL,
    CONSTRAINT ck_bucket_averages_weight CHECK (((weight > 0) AND (weight <= 100)))
);
CREATE TABLE public.bucket_pools (
    bucket_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    pool_id bigint NOT NULL
);
CREATE TABLE public.buckets (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    requirements jsonb NOT NULL,
    cluster_id bigint
);
ALTER TABLE public.buckets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.buckets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.cached_inputs (
    cluster_id bigint NOT NULL,
    local_user text NOT NULL,
    sha256 text NOT NULL,
    is_packed boolean NOT NULL,
    bytes bigint NOT NULL,
    is_there boolean NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT ck_cached_inputs_bytes CHECK ((bytes >= 0))
);
CREATE TABLE public.campaign_clusters (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    settings jsonb NOT NULL,
    width bigint NOT NULL,
    max_jobs bigint,
    prologue public.step_state NOT NULL,
    epilogue public.step_state NOT NULL,
    done bigint DEFAULT '0'::bigint NOT NULL,
    failed bigint DEFAULT '0'::bigint NOT NULL,
    resubmitted bigint DEFAULT '0'::bigint NOT NULL,
    seconds double precision DEFAULT '0'::double precision NOT NULL,
    squares double precision DEFAULT '0'::double precision NOT NULL,
    errors bigint DEFAULT '0'::bigint NOT NULL,
    strikes bigint DEFAULT '0'::bigint NOT NULL,
    blocked_until timestamp with time zone,
    durations bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    doubted bigint DEFAULT '0'::bigint NOT NULL,
    doubted_below double precision,
    sink_since timestamp with time zone,
    is_trusted boolean DEFAULT false NOT NULL,
    speed double precision,
    known bigint DEFAULT '0'::bigint NOT NULL,
    expected double precision DEFAULT '0'::double precision NOT NULL,
    asked bigint GENERATED ALWAYS AS (hashtextextended(((((((((((((COALESCE(((settings -> 'resources'::text))::text, ''::text) || '/'::text) || COALESCE(((settings -> 'walltime'::text))::text, ''::text)) || '/'::text) || COALESCE(((settings -> 'type'::text))::text, ''::text)) || '/'::text) || COALESCE(((settings -> 'types'::text))::text, ''::text)) || '/'::text) || COALESCE(((settings -> 'queue'::text))::text, ''::text)) || '/'::text) || COALESCE(((settings -> 'properties'::text))::text, ''::text)) || '/'::text) || COALESCE(((settings -> 'backend'::text))::text, ''::text)), (0)::bigint)) STORED NOT NULL,
    lacks_inputs boolean DEFAULT false NOT NULL,
    uncollected bigint DEFAULT '0'::bigint NOT NULL,
    uncollected_bytes bigint DEFAULT '0'::bigint NOT NULL,
    collected bigint DEFAULT '0'::bigint NOT NULL,
    lost bigint DEFAULT '0'::bigint NOT NULL,
    outputs_wait boolean DEFAULT false NOT NULL,
    profiled bigint DEFAULT '0'::bigint NOT NULL,
    profiled_seconds double precision DEFAULT '0'::double precision NOT NULL,
    cpu double precision DEFAULT '0'::double precision NOT NULL,
    most_cpu double precision DEFAULT '0'::double precision NOT NULL,
    bytes_read double precision DEFAULT '0'::double precision NOT NULL,
    most_read double precision DEFAULT '0'::double precision NOT NULL,
    bytes_written double precision DEFAULT '0'::double precision NOT NULL,
    most_written double precision DEFAULT '0'::double precision NOT NULL,
    failed_sends bigint DEFAULT '0'::bigint NOT NULL,
    idle_deaths bigint DEFAULT '0'::bigint NOT NULL,
    inputs_version bigint DEFAULT '1'::bigint NOT NULL,
    stored_bytes bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT ck_campaign_clusters_doubted CHECK ((doubted >= 0)),
    CONSTRAINT ck_campaign_clusters_max_jobs CHECK ((max_jobs > 0)),
    CONSTRAINT ck_campaign_clusters_sink CHECK (((sink_since IS NULL) OR (doubted_below IS NOT NULL))),
    CONSTRAINT ck_campaign_clusters_speed CHECK ((speed > (0)::double precision)),
    CONSTRAINT ck_campaign_clusters_uncollected CHECK (((uncollected >= 0) AND (uncollected_bytes >= 0))),
    CONSTRAINT ck_campaign_clusters_width CHECK ((width > 0))
);
CREATE TABLE public.campaign_inputs (
    campaign_id bigint NOT NULL,
    sha256 text NOT NULL
);
CREATE TABLE public.campaign_limits (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    limit_name text NOT NULL,
    tokens bigint NOT NULL,
    CONSTRAINT ck_campaign_limits_tokens CHECK ((tokens > 0))
);
CREATE TABLE public.campaigns (
    id bigint NOT NULL,
    name text NOT NULL,
    grid_user text NOT NULL,
    project_id bigint,
    type public.campaign_type NOT NULL,
    state public.campaign_state NOT NULL,
    scheduler text NOT NULL,
    submitted_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    purged_at timestamp with time zone,
    archived_at timestamp with time zone,
    priority bigint DEFAULT '0'::bigint NOT NULL,
    served_at timestamp with time zone,
    replica_budget double precision,
    max_replicas bigint,
    wanted jsonb,
    anywhere jsonb,
    unmatched_from bigint DEFAULT '0'::bigint,
    own_priority bigint DEFAULT '0'::bigint NOT NULL,
    written json,
    submission_key text,
    submission_digest text,
    tasks_have_inputs boolean DEFAULT false NOT NULL,
    is_begin_told boolean DEFAULT false NOT NULL,
    sent_from text,
    CONSTRAINT ck_campaigns_ended CHECK (((state = ANY (ARRAY['terminated'::public.campaign_state, 'cancelled'::public.campaign_state])) = (ended_at IS NOT NULL))),
    CONSTRAINT ck_campaigns_replica_budget CHECK (((replica_budget > (0)::double precision) AND (replica_budget <= (1)::double precision) AND (max_replicas > 0))),
    CONSTRAINT ck_campaigns_replicas CHECK (((replica_budget IS NULL) = (max_replicas IS NULL)))
);
ALTER TABLE public.campaigns ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.campaigns_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.challenges (
    id bigint NOT NULL,
    nonce text NOT NULL,
    grid_user text NOT NULL,
    host text NOT NULL,
    scope public.scope NOT NULL,
    expires_in bigint NOT NULL,
    comment text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_challenges_nonce CHECK ((nonce ~ '^[A-Za-z0-9_-]{43}$'::text))
);
ALTER TABLE public.challenges ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.challenges_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.checkpoint_requests (
    job_id bigint NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    asked_by text NOT NULL,
    sent_at timestamp with time zone,
    heard_at timestamp with time zone,
    looks bigint DEFAULT '0'::bigint NOT NULL,
    is_open boolean DEFAULT true NOT NULL
);
CREATE TABLE public.cluster_forecasts (
    cluster_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    cycle double precision,
    start_rate double precision,
    queue_delay double precision,
    arrivals double precision,
    releases double precision,
    hazard double precision
);
CREATE TABLE public.cluster_paces (
    cluster_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    pace double precision NOT NULL,
    usual double precision,
    why text NOT NULL,
    refused bigint NOT NULL,
    CONSTRAINT ck_cluster_paces_pace CHECK (((pace > (0)::double precision) AND (pace <= (1)::double precision)))
);
CREATE TABLE public.cluster_states (
    cluster_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    total bigint NOT NULL,
    free bigint NOT NULL,
    used bigint NOT NULL,
    used_by_us bigint NOT NULL,
    unavailable bigint NOT NULL
);
CREATE TABLE public.cluster_usage (
    cluster_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    total bigint NOT NULL,
    free bigint NOT NULL,
    used bigint NOT NULL,
    used_by_us bigint NOT NULL,
    unavailable bigint NOT NULL
);
CREATE TABLE public.clusters (
    id bigint NOT NULL,
    name text NOT NULL,
    config jsonb NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    failures bigint DEFAULT '0'::bigint NOT NULL,
    blocked_until timestamp with time zone,
    visited_at timestamp with time zone,
    site text DEFAULT ''::text NOT NULL,
    clock_skew bigint,
    CONSTRAINT ck_clusters_blocked_after_failures CHECK (((failures > 0) = (blocked_until IS NOT NULL))),
    CONSTRAINT ck_clusters_name CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'::text)),
    CONSTRAINT ck_clusters_site CHECK (((site = ''::text) OR (site ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'::text)))
);
ALTER TABLE public.clusters ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.clusters_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.command_counts (
    cluster_id bigint NOT NULL,
    module text NOT NULL,
    commands bigint NOT NULL,
    seconds double precision NOT NULL,
    sessions bigint DEFAULT '0'::bigint NOT NULL
);
CREATE TABLE public.completions (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    minute timestamp with time zone NOT NULL,
    tasks bigint NOT NULL
);
CREATE TABLE public.cuts (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    reason public.cut_reason NOT NULL,
    name text NOT NULL,
    used bigint NOT NULL,
    most bigint NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE TABLE public.declared_properties (
    level public.property_level NOT NULL,
    place text NOT NULL,
    project text NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL,
    extends boolean NOT NULL,
    CONSTRAINT ck_declared_properties_place CHECK (((level = 'grid'::public.property_level) = (place = ''::text)))
);
CREATE TABLE public.dependencies (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    required_id bigint NOT NULL,
    is_same boolean NOT NULL,
    condition public.after_when NOT NULL,
    tolerated bigint DEFAULT '0'::bigint NOT NULL,
    tolerance double precision DEFAULT '0'::double precision NOT NULL,
    met_at timestamp with time zone,
    waived_by text,
    broken_at timestamp with time zone,
    seen bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT ck_dependencies_earlier CHECK ((required_id < campaign_id)),
    CONSTRAINT ck_dependencies_tolerance CHECK (((tolerated >= 0) AND (tolerance >= (0)::double precision) AND (tolerance <= (1)::double precision))),
    CONSTRAINT ck_dependencies_verdict CHECK (((broken_at IS NULL) OR (met_at IS NULL))),
    CONSTRAINT ck_dependencies_waived CHECK (((waived_by IS NULL) OR (met_at IS NOT NULL)))
);
ALTER TABLE public.dependencies ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.dependencies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.discoveries (
    cluster_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    problem text NOT NULL
);
CREATE TABLE public.drains (
    cluster_id bigint NOT NULL,
    deadline timestamp with time zone NOT NULL,
    kills boolean NOT NULL,
    keep bigint NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    asked_by text NOT NULL,
    CONSTRAINT ck_drains_keep CHECK ((keep >= 0))
);
CREATE TABLE public.earlier_inputs (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    version bigint NOT NULL,
    inputs jsonb NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
CREATE TABLE public.end_counts (
    id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    outcome public.outcome NOT NULL,
    is_replica boolean NOT NULL,
    attempts bigint NOT NULL,
    jobs bigint NOT NULL,
    core_seconds double precision NOT NULL
);
ALTER TABLE public.end_counts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.end_counts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.events (
    id bigint NOT NULL,
    code text NOT NULL,
    level public.event_level NOT NULL,
    subject text NOT NULL,
    message text NOT NULL,
    campaign_id bigint,
    cluster_id bigint,
    job_id bigint,
    task_id bigint,
    count bigint DEFAULT '1'::bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closed_by text,
    is_news boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_events_closed_by CHECK (((closed_at IS NULL) = (closed_by IS NULL)))
);
ALTER TABLE public.events ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.excluded_nodes (
    cluster_id bigint NOT NULL,
    node text NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    strikes bigint NOT NULL,
    reason text NOT NULL,
    asked_by text NOT NULL,
    CONSTRAINT ck_excluded_nodes_strikes CHECK ((strikes > 0))
);
CREATE TABLE public.forecast_history (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint,
    at timestamp with time zone NOT NULL,
    ratio double precision NOT NULL,
    throughput double precision,
    mean double precision,
    deviation double precision,
    remaining bigint NOT NULL,
    eta timestamp with time zone,
    median double precision,
    p95 double precision,
    keep bigint,
    send bigint,
    memory jsonb DEFAULT '{}'::jsonb NOT NULL,
    submitted bigint DEFAULT '0'::bigint NOT NULL,
    free bigint,
    eta_low timestamp with time zone,
    eta_high timestamp with time zone,
    pressure double precision,
    published timestamp with time zone,
    cores bigint,
    done bigint,
    failed bigint
);
ALTER TABLE public.forecast_history ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.forecast_history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.forecasts (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint,
    at timestamp with time zone NOT NULL,
    ratio double precision NOT NULL,
    throughput double precision,
    mean double precision,
    deviation double precision,
    remaining bigint NOT NULL,
    eta timestamp with time zone,
    median double precision,
    p95 double precision,
    keep bigint,
    send bigint,
    memory jsonb DEFAULT '{}'::jsonb NOT NULL,
    submitted bigint DEFAULT '0'::bigint NOT NULL,
    free bigint,
    eta_low timestamp with time zone,
    eta_high timestamp with time zone,
    pressure double precision,
    published timestamp with time zone,
    CONSTRAINT ck_forecasts_interval CHECK (((eta_low <= eta) AND (eta <= eta_high))),
    CONSTRAINT ck_forecasts_jobs CHECK (((keep >= 0) AND (send >= 0))),
    CONSTRAINT ck_forecasts_pressure CHECK ((pressure >= (0)::double precision)),
    CONSTRAINT ck_forecasts_ratio CHECK ((ratio > (0)::double precision))
);
ALTER TABLE public.forecasts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.forecasts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.grid (
    one boolean NOT NULL,
    key text NOT NULL,
    resources_version bigint DEFAULT '0'::bigint NOT NULL,
    identity text,
    place text,
    CONSTRAINT ck_grid_key CHECK ((key ~ '^[a-z0-9]{4,8}$'::text)),
    CONSTRAINT ck_grid_one_row CHECK (one)
);
CREATE TABLE public.halts (
    job_id bigint NOT NULL,
    is_wanted boolean NOT NULL,
    state public.job_state NOT NULL,
    sent_at timestamp with time zone,
    tries bigint NOT NULL
);
CREATE TABLE public.holds (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint,
    job_id bigint,
    waiting_only boolean DEFAULT false NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    asked_by text NOT NULL,
    CONSTRAINT ck_holds_one_thing CHECK (((cluster_id IS NULL) OR (job_id IS NULL)))
);
ALTER TABLE public.holds ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.holds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.jobs (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    bucket_id bigint,
    kind public.job_kind NOT NULL,
    state public.job_state NOT NULL,
    width bigint NOT NULL,
    walltime bigint NOT NULL,
    batch_id bigint,
    array_index bigint,
    remote_id text,
    node text,
    reason text,
    created_at timestamp with time zone NOT NULL,
    submitted_at timestamp with time zone,
    started_at timestamp with time zone,
    missing_since timestamp with time zone,
    ended_at timestamp with time zone,
    outcome public.outcome,
    exit_code bigint,
    halted_since timestamp with time zone,
    halted_seconds double precision DEFAULT '0'::double precision NOT NULL,
    running_from timestamp with time zone,
    ran_seconds double precision,
    has_begun boolean,
    CONSTRAINT ck_jobs_batch_and_index CHECK (((batch_id IS NULL) = (array_index IS NULL))),
    CONSTRAINT ck_jobs_ended_at CHECK (((state = 'ended'::public.job_state) = (ended_at IS NOT NULL))),
    CONSTRAINT ck_jobs_ended_has_outcome CHECK (((state = 'ended'::public.job_state) = (outcome IS NOT NULL))),
    CONSTRAINT ck_jobs_ran_seconds CHECK (((ran_seconds >= (0)::double precision) AND ((ran_seconds IS NULL) OR (state = 'ended'::public.job_state)))),
    CONSTRAINT ck_jobs_size CHECK (((width > 0) AND (walltime > 0))),
    CONSTRAINT ck_jobs_submitted_has_batch CHECK (((state = ANY (ARRAY['to_launch'::public.job_state, 'ended'::public.job_state])) OR (batch_id IS NOT NULL))),
    CONSTRAINT ck_jobs_tasks_have_bucket CHECK (((kind = 'tasks'::public.job_kind) = (bucket_id IS NOT NULL))),
    CONSTRAINT ck_jobs_to_launch_has_no_batch CHECK (((state <> 'to_launch'::public.job_state) OR (batch_id IS NULL)))
);
ALTER TABLE public.jobs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.kills (
    job_id bigint NOT NULL,
    reason public.kill_reason NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    asked_by text NOT NULL,
    sent_at timestamp with time zone,
    tries bigint DEFAULT '0'::bigint NOT NULL,
    is_open boolean DEFAULT true NOT NULL
);
CREATE TABLE public.last_durations (
    command uuid NOT NULL,
    parameter uuid NOT NULL,
    seconds double precision NOT NULL,
    at timestamp with time zone NOT NULL,
    cluster_id bigint
);
CREATE TABLE public.limits (
    name text NOT NULL,
    capacity bigint NOT NULL,
    CONSTRAINT ck_limits_capacity CHECK ((capacity >= 0)),
    CONSTRAINT ck_limits_name CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'::text))
);
CREATE TABLE public.messages (
    id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    campaign_id bigint,
    key text NOT NULL,
    state public.message_state NOT NULL,
    news jsonb NOT NULL,
    tries bigint DEFAULT '0'::bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    taken_until timestamp with time zone,
    settled_at timestamp with time zone,
    error text,
    CONSTRAINT ck_messages_settled CHECK (((state = 'waiting'::public.message_state) = (settled_at IS NULL))),
    CONSTRAINT ck_messages_tries CHECK ((tries >= 0))
);
ALTER TABLE public.messages ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.modules (
    name text NOT NULL,
    host text NOT NULL,
    pid bigint NOT NULL,
    passes bigint DEFAULT '0'::bigint NOT NULL,
    failures bigint DEFAULT '0'::bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seconds double precision,
    counts jsonb NOT NULL,
    error text,
    failing_since timestamp with time zone,
    by_almighty boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_modules_failing_since CHECK (((error IS NULL) = (failing_since IS NULL)))
);
CREATE TABLE public.node_classes (
    id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    queue text,
    at timestamp with time zone NOT NULL,
    properties jsonb NOT NULL,
    nodes bigint NOT NULL,
    CONSTRAINT ck_node_classes_nodes CHECK ((nodes > 0))
);
ALTER TABLE public.node_classes ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.node_classes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.node_drains (
    cluster_id bigint NOT NULL,
    node text NOT NULL,
    deadline timestamp with time zone NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    asked_by text NOT NULL
);
CREATE TABLE public.offers (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    cores bigint NOT NULL,
    jobs bigint NOT NULL,
    rank bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    at_once bigint NOT NULL,
    most_queued bigint NOT NULL,
    starting bigint NOT NULL,
    CONSTRAINT ck_offers_not_empty CHECK (((cores > 0) AND (jobs > 0)))
);
CREATE TABLE public.parcels (
    task_id bigint NOT NULL,
    attempt bigint NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    files bigint NOT NULL,
    bytes bigint NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    tries bigint DEFAULT '0'::bigint NOT NULL,
    collected_at timestamp with time zone,
    lost_at timestamp with time zone,
    is_delivered boolean DEFAULT false NOT NULL,
    remove_at timestamp with time zone,
    removed_at timestamp with time zone,
    CONSTRAINT ck_parcels_one_end CHECK (((collected_at IS NULL) OR (lost_at IS NULL))),
    CONSTRAINT ck_parcels_remove_at CHECK (((collected_at IS NULL) = (remove_at IS NULL))),
    CONSTRAINT ck_parcels_removed_at CHECK (((removed_at IS NULL) OR (collected_at IS NOT NULL)))
);
CREATE TABLE public.part_inputs (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    sha256 text NOT NULL,
    is_packed boolean NOT NULL
);
CREATE TABLE public.processes (
    host text NOT NULL,
    pid bigint NOT NULL,
    name text NOT NULL,
    leader bigint NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    activity text DEFAULT ''::text NOT NULL,
    activity_since timestamp with time zone NOT NULL,
    silent_at timestamp with time zone,
    late_at timestamp with time zone
);
CREATE TABLE public.projects (
    id bigint NOT NULL,
    name text NOT NULL
);
ALTER TABLE public.projects ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.projects_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.property_kinds (
    name text NOT NULL,
    kind text NOT NULL
);
CREATE TABLE public.quarantines (
    id bigint NOT NULL,
    module text NOT NULL,
    campaign_id bigint,
    cluster_id bigint,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    failures bigint NOT NULL,
    error text NOT NULL,
    CONSTRAINT ck_quarantines_failures CHECK ((failures > 0)),
    CONSTRAINT ck_quarantines_one_thing CHECK ((num_nonnulls(campaign_id, cluster_id) = 1))
);
ALTER TABLE public.quarantines ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.quarantines_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.queue_limits (
    cluster_id bigint NOT NULL,
    local_user text NOT NULL,
    most bigint NOT NULL,
    refused bigint,
    misses bigint NOT NULL,
    looks bigint NOT NULL,
    look_at timestamp with time zone NOT NULL,
    counts_arrays boolean NOT NULL,
    said text NOT NULL,
    CONSTRAINT ck_queue_limits_refused CHECK ((refused > most))
);
CREATE TABLE public.queues (
    id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    name text NOT NULL,
    remote_name text NOT NULL,
    requires jsonb,
    CONSTRAINT ck_queues_default CHECK (((name = ''::text) = (remote_name = ''::text)))
);
ALTER TABLE public.queues ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.queues_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.quotas (
    id bigint NOT NULL,
    cluster_id bigint,
    cores bigint,
    queue text NOT NULL,
    project text NOT NULL,
    type text NOT NULL,
    grid_user text NOT NULL,
    jobs bigint,
    core_hours double precision,
    days bigint,
    CONSTRAINT ck_quotas_accounted CHECK (((core_hours IS NULL) OR ((queue = '*'::text) AND (type = 'all'::text)))),
    CONSTRAINT ck_quotas_amounts CHECK (((cores >= 0) AND (jobs >= 0) AND (core_hours >= (0)::double precision))),
    CONSTRAINT ck_quotas_days CHECK ((((core_hours IS NULL) = (days IS NULL)) AND (days > 0))),
    CONSTRAINT ck_quotas_something CHECK (((COALESCE(cores, jobs) IS NOT NULL) OR (core_hours IS NOT NULL)))
);
ALTER TABLE public.quotas ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.quotas_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.resource_documents (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    by text NOT NULL,
    text text NOT NULL
);
ALTER TABLE public.resource_documents ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.resource_documents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.sent_inputs (
    sha256 text NOT NULL,
    grid_user text NOT NULL,
    sent_at timestamp with time zone NOT NULL
);
CREATE TABLE public.sessions (
    id bigint NOT NULL,
    grid_user text NOT NULL,
    scope public.scope NOT NULL,
    link_sha256 text NOT NULL,
    sha256 text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT ck_sessions_expires_at CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '1 day'::interval)))),
    CONSTRAINT ck_sessions_link_sha256 CHECK ((link_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_sessions_sha256 CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.shutdowns (
    job_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    was_heard boolean NOT NULL,
    machine_only boolean DEFAULT false NOT NULL,
    is_past boolean DEFAULT false NOT NULL
);
CREATE TABLE public.ssh_keys (
    id bigint NOT NULL,
    grid_user text NOT NULL,
    public_key text NOT NULL,
    fingerprint text NOT NULL,
    comment text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT ck_ssh_keys_fingerprint CHECK ((fingerprint ~ '^SHA256:[A-Za-z0-9+/]{43}$'::text))
);
ALTER TABLE public.ssh_keys ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.ssh_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.stored_inputs (
    sha256 text NOT NULL,
    size bigint NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_stored_inputs_sha256 CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT ck_stored_inputs_size CHECK ((size >= 0))
);
CREATE TABLE public.submit_pool_queues (
    pool_id bigint NOT NULL,
    queue_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    condition jsonb
);
CREATE TABLE public.submit_pool_rejects (
    pool_id bigint NOT NULL,
    queue_id bigint NOT NULL,
    code public.reject_code NOT NULL,
    name text NOT NULL,
    wanted text NOT NULL,
    found text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.submit_pools (
    id bigint NOT NULL,
    digest text NOT NULL,
    project text NOT NULL,
    requirements jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    closed bigint[] DEFAULT '{}'::bigint[] NOT NULL
);
ALTER TABLE public.submit_pools ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.submit_pools_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.subscriptions (
    id bigint NOT NULL,
    grid_user text NOT NULL,
    campaign_id bigint,
    is_of_grid boolean DEFAULT false NOT NULL,
    channel public.channel NOT NULL,
    target text NOT NULL,
    tags text[] NOT NULL,
    severity public.severity NOT NULL,
    secret text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_subscriptions_one_thing CHECK ((NOT (is_of_grid AND (campaign_id IS NOT NULL)))),
    CONSTRAINT ck_subscriptions_secret CHECK (((channel = 'webhook'::public.channel) = (secret IS NOT NULL))),
    CONSTRAINT ck_subscriptions_tags CHECK (((tags <@ ARRAY['RUNNING'::text, 'END'::text, 'ERROR'::text, 'INFO'::text, 'SUSPENDED'::text, 'RESUMING'::text]) AND (cardinality(tags) > 0)))
);
ALTER TABLE public.subscriptions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.subscriptions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.targets (
    kind public.subject_kind NOT NULL,
    name text NOT NULL,
    share double precision NOT NULL,
    CONSTRAINT ck_targets_share CHECK ((share > (0)::double precision))
);
CREATE TABLE public.task_counts (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    state public.task_state NOT NULL,
    n bigint NOT NULL,
    known bigint DEFAULT '0'::bigint NOT NULL,
    expected double precision DEFAULT '0'::double precision NOT NULL
);
ALTER TABLE public.task_counts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.task_counts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.task_history (
    campaign_id bigint NOT NULL,
    number bigint NOT NULL,
    parameter jsonb NOT NULL,
    state public.task_state NOT NULL,
    attempts bigint NOT NULL,
    cluster_id bigint,
    exit_code bigint,
    started_at timestamp with time zone,
    seconds double precision,
    node text
);
CREATE TABLE public.task_inputs (
    campaign_id bigint NOT NULL,
    number bigint NOT NULL,
    place bigint NOT NULL,
    sha256 text NOT NULL
);
CREATE TABLE public.task_places (
    campaign_id bigint NOT NULL,
    number bigint NOT NULL,
    cluster_id bigint NOT NULL,
    is_furnished boolean NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.tasks (
    id bigint NOT NULL,
    campaign_id bigint NOT NULL,
    bucket_id bigint NOT NULL,
    number bigint NOT NULL,
    parameter jsonb NOT NULL,
    state public.task_state DEFAULT 'waiting'::public.task_state NOT NULL,
    priority bigint DEFAULT '10'::bigint NOT NULL,
    attempts bigint DEFAULT '0'::bigint NOT NULL,
    failures bigint DEFAULT '0'::bigint NOT NULL,
    deaths bigint DEFAULT '0'::bigint NOT NULL,
    resubmissions bigint DEFAULT '0'::bigint NOT NULL,
    checkpoints bigint DEFAULT '0'::bigint NOT NULL,
    checkpoint_cluster_id bigint,
    stopped_at timestamp with time zone,
    failed_cluster_id bigint,
    expected double precision,
    CONSTRAINT ck_tasks_stopped_at_checkpoint CHECK (((checkpoint_cluster_id IS NULL) = (stopped_at IS NULL)))
);
ALTER TABLE public.tasks ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tasks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tokens (
    id bigint NOT NULL,
    grid_user text NOT NULL,
    comment text NOT NULL,
    scope public.scope NOT NULL,
    sha256 text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    ssh_key_id bigint,
    CONSTRAINT ck_tokens_expires_at CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '90 days'::interval)))),
    CONSTRAINT ck_tokens_sha256 CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
ALTER TABLE public.tokens ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.usages (
    id bigint NOT NULL,
    grid_user text NOT NULL,
    project_id bigint,
    used double precision NOT NULL,
    asked double precision NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE public.usages ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.usages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.user_mappings (
    cluster_id bigint NOT NULL,
    grid_user text NOT NULL,
    local_user text NOT NULL
);
CREATE TABLE public.waiting_reasons (
    cluster_id bigint NOT NULL,
    local_user text NOT NULL,
    campaign_id bigint NOT NULL,
    said text NOT NULL,
    meaning text NOT NULL,
    is_stuck boolean NOT NULL,
    jobs bigint NOT NULL,
    starts_at timestamp with time zone,
    since timestamp with time zone NOT NULL,
    CONSTRAINT ck_waiting_reasons_jobs CHECK ((jobs > 0))
);
COPY public.accounting (id, day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds, is_sum, type, asked) FROM stdin;
1	2026-11-29 00:00:00+00	alice		dahu	success	f	1	10	f	best-effort	3600
2	2026-11-29 00:00:00+00	alice		dahu	failure	f	1	10	f	best-effort	3600
\.
COPY public.affinities (grid_user, cluster_id) FROM stdin;
\.
COPY public.alembic_version (version_num) FROM stdin;
0075
\.
COPY public.archived_accounting (id, day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds, type, asked) FROM stdin;
\.
COPY public.attempts (task_id, number, job_id, "position", is_replica, outcome, exit_code, started_at, seconds, files, bytes, halted_seconds) FROM stdin;
3	1	3	1	f	\N	\N	\N	\N	0	0	0
4	1	4	1	f	\N	\N	\N	\N	0	0	0
1	1	1	1	f	success	0	2026-11-29 09:21:03.867356+00	10	0	0	0
2	1	2	1	f	failure	1	2026-11-29 09:21:03.867356+00	10	0	0	0
\.
COPY public.audit (id, at, grid_user, how, endpoint, asked, hash) FROM stdin;
1	2026-11-29 09:21:13.867356+00	alice	kernel	hold_job	{"job_id": 4}	f32014b0f624c1bda3e83d2fc5f5987c68b718a282afd5515da4aa9bc514a435
2	2026-11-29 09:21:14.295377+00	alice	kernel	submit	{"name": "after"}	af835ab2c7e0662e4e197f6212247c471b6e82c1345cf5d520975381342f0a25
\.
COPY public.audit_chain (one, last_id, last_hash, removed_id, removed_hash, removed_until) FROM stdin;
t	2	af835ab2c7e0662e4e197f6212247c471b6e82c1345cf5d520975381342f0a25	0		\N
\.
COPY public.batches (id, tag, campaign_id, cluster_id, local_user, state, size, created_at, settled_at, checkpoint_period, checkpoint_life, checkpoint_cost, promised_notice, inputs_version, served_features) FROM stdin;
7609152069355506	cigri.0ldgr1d.7609152069355506	1	1	alice	submitted	3	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	\N	\N	\N	\N	1	\N
2106179559894230	cigri.0ldgr1d.2106179559894230	1	1	alice	submitted	1	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	\N	\N	\N	\N	1	\N
\.
COPY public.bucket_averages (bucket_id, cluster_id, weight, seconds) FROM stdin;
1	1	1	10
\.
COPY public.bucket_pools (bucket_id, cluster_id, pool_id) FROM stdin;
1	1	1
2	1	1
\.
COPY public.buckets (id, campaign_id, requirements, cluster_id) FROM stdin;
1	1	{}	\N
2	2	{}	\N
\.
COPY public.cached_inputs (cluster_id, local_user, sha256, is_packed, bytes, is_there, at) FROM stdin;
\.
COPY public.campaign_clusters (campaign_id, cluster_id, settings, width, max_jobs, prologue, epilogue, done, failed, resubmitted, seconds, squares, errors, strikes, blocked_until, durations, doubted, doubted_below, sink_since, is_trusted, speed, known, expected, lacks_inputs, uncollected, uncollected_bytes, collected, lost, outputs_wait, profiled, profiled_seconds, cpu, most_cpu, bytes_read, most_read, bytes_written, most_written, failed_sends, idle_deaths, inputs_version, stored_bytes) FROM stdin;
1	1	{"retries": 0, "walltime": 3600, "exec_file": "/bin/true"}	1	\N	none	none	1	1	0	10	100	0	0	\N	{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}	0	\N	\N	f	\N	0	0	f	0	0	0	0	f	0	0	0	0	0	0	0	0	0	0	1	0
2	1	{"retries": 0, "walltime": 3600, "exec_file": "/bin/true"}	1	\N	none	none	0	0	0	0	0	0	0	\N	{}	0	\N	\N	f	\N	0	0	f	0	0	0	0	f	0	0	0	0	0	0	0	0	0	0	1	0
\.
COPY public.campaign_inputs (campaign_id, sha256) FROM stdin;
\.
COPY public.campaign_limits (campaign_id, cluster_id, limit_name, tokens) FROM stdin;
\.
COPY public.campaigns (id, name, grid_user, project_id, type, state, scheduler, submitted_at, ended_at, purged_at, archived_at, priority, served_at, replica_budget, max_replicas, wanted, anywhere, unmatched_from, own_priority, written, submission_key, submission_digest, tasks_have_inputs, is_begin_told, sent_from) FROM stdin;
1	povray	alice	\N	default	in_treatment	workqueue	2026-11-29 09:21:13.867356+00	\N	\N	\N	0	2026-11-29 09:21:13.867356+00	\N	\N	\N	\N	0	0	\N	\N	\N	f	f	\N
2	after	bob	\N	default	in_treatment	workqueue	2026-11-29 09:21:14.295377+00	\N	\N	\N	0	\N	\N	\N	\N	\N	0	0	\N	\N	\N	f	f	\N
\.
COPY public.challenges (id, nonce, grid_user, host, scope, expires_in, comment, created_at) FROM stdin;
\.
COPY public.checkpoint_requests (job_id, asked_at, asked_by, sent_at, heard_at, looks, is_open) FROM stdin;
\.
COPY public.cluster_forecasts (cluster_id, at, cycle, start_rate, queue_delay, arrivals, releases, hazard) FROM stdin;
\.
COPY public.cluster_paces (cluster_id, at, pace, usual, why, refused) FROM stdin;
\.
COPY public.cluster_states (cluster_id, at, total, free, used, used_by_us, unavailable) FROM stdin;
1	2026-11-29 09:21:13.867356+00	10	10	0	0	0
\.
COPY public.cluster_usage (cluster_id, at, total, free, used, used_by_us, unavailable) FROM stdin;
1	2026-11-29 09:21:00+00	10	10	0	0	0
\.
COPY public.clusters (id, name, config, is_enabled, failures, blocked_until, visited_at, site, clock_skew) FROM stdin;
1	dahu	{"driver": "local", "features": {"cpufactor_lrms": 1.25}}	t	0	\N	2026-11-29 09:21:13.867356+00		\N
\.
COPY public.command_counts (cluster_id, module, commands, seconds, sessions) FROM stdin;
\.
COPY public.completions (campaign_id, cluster_id, minute, tasks) FROM stdin;
1	1	2026-11-29 09:21:00+00	1
\.
COPY public.cuts (campaign_id, cluster_id, reason, name, used, most, since) FROM stdin;
\.
COPY public.declared_properties (level, place, project, name, value, extends) FROM stdin;
\.
COPY public.dependencies (id, campaign_id, required_id, is_same, condition, tolerated, tolerance, met_at, waived_by, broken_at, seen) FROM stdin;
\.
COPY public.discoveries (cluster_id, at, problem) FROM stdin;
\.
COPY public.drains (cluster_id, deadline, kills, keep, asked_at, asked_by) FROM stdin;
\.
COPY public.earlier_inputs (campaign_id, cluster_id, version, inputs, replaced_at) FROM stdin;
\.
COPY public.end_counts (id, cluster_id, outcome, is_replica, attempts, jobs, core_seconds) FROM stdin;
1	1	success	f	1	0	0
2	1	success	f	0	1	10
3	1	failure	f	1	0	0
4	1	failure	f	0	1	10
\.
COPY public.events (id, code, level, subject, message, campaign_id, cluster_id, job_id, task_id, count, opened_at, last_at, closed_at, closed_by, is_news) FROM stdin;
1	TASK_FAILED	error	task 2	failure, exit code 1; stderr ends: no such file	1	1	2	2	1	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	\N	\N	f
2	HELD	info	job 4	job 4 held by alice	1	\N	4	\N	1	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	cigri	f
\.
COPY public.excluded_nodes (cluster_id, node, since, until, strikes, reason, asked_by) FROM stdin;
\.
COPY public.forecast_history (id, campaign_id, cluster_id, at, ratio, throughput, mean, deviation, remaining, eta, median, p95, keep, send, memory, submitted, free, eta_low, eta_high, pressure, published, cores, done, failed) FROM stdin;
\.
COPY public.forecasts (id, campaign_id, cluster_id, at, ratio, throughput, mean, deviation, remaining, eta, median, p95, keep, send, memory, submitted, free, eta_low, eta_high, pressure, published) FROM stdin;
\.
COPY public.grid (one, key, resources_version, identity, place) FROM stdin;
t	0ldgr1d	3	\N	\N
\.
COPY public.halts (job_id, is_wanted, state, sent_at, tries) FROM stdin;
\.
COPY public.holds (id, campaign_id, cluster_id, job_id, waiting_only, asked_at, asked_by) FROM stdin;
1	1	\N	4	f	2026-11-29 09:21:13.867356+00	alice
\.
COPY public.jobs (id, campaign_id, cluster_id, bucket_id, kind, state, width, walltime, batch_id, array_index, remote_id, node, reason, created_at, submitted_at, started_at, missing_since, ended_at, outcome, exit_code, halted_since, halted_seconds, running_from, ran_seconds, has_begun) FROM stdin;
4	1	1	1	tasks	submitted	1	3600	2106179559894230	1	r1	\N	\N	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	\N	\N	\N	\N	\N	\N	0	\N	\N	\N
3	1	1	1	tasks	running	1	3600	7609152069355506	3	r3	node-1	\N	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	\N	\N	\N	\N	\N	0	2026-11-29 09:21:13.867356+00	\N	\N
1	1	1	1	tasks	ended	1	3600	7609152069355506	1	r1	node-1	\N	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:03.867356+00	2026-11-29 09:21:03.867356+00	\N	2026-11-29 09:21:13.867356+00	success	0	\N	0	2026-11-29 09:21:13.867356+00	10	\N
2	1	1	1	tasks	ended	1	3600	7609152069355506	2	r2	node-1	\N	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:03.867356+00	2026-11-29 09:21:03.867356+00	\N	2026-11-29 09:21:13.867356+00	failure	1	\N	0	2026-11-29 09:21:13.867356+00	10	\N
\.
COPY public.kills (job_id, reason, asked_at, asked_by, sent_at, tries, is_open) FROM stdin;
\.
COPY public.last_durations (command, parameter, seconds, at, cluster_id) FROM stdin;
39c5736c-e40c-1588-73cd-cfefd4e734db	98089e6d-36f7-8e97-66c9-ea34d5acb361	10	2026-11-29 09:21:13.867356+00	1
\.
COPY public.limits (name, capacity) FROM stdin;
\.
COPY public.messages (id, subscription_id, campaign_id, key, state, news, tries, created_at, due_at, taken_until, settled_at, error) FROM stdin;
\.
COPY public.modules (name, host, pid, passes, failures, started_at, seconds, counts, error, failing_since, by_almighty) FROM stdin;
updator	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
predictor	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
matcher	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
stager	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
metascheduler	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
campaign_schedulers	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
runner	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
killer	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
notifier	host	1	1	0	2026-11-29 09:21:13.867356+00	0.1	{}	\N	\N	f
\.
COPY public.node_classes (id, cluster_id, queue, at, properties, nodes) FROM stdin;
\.
COPY public.node_drains (cluster_id, node, deadline, asked_at, asked_by) FROM stdin;
\.
COPY public.offers (campaign_id, cluster_id, cores, jobs, rank, at, at_once, most_queued, starting) FROM stdin;
\.
COPY public.parcels (task_id, attempt, campaign_id, cluster_id, files, bytes, ended_at, tries, collected_at, lost_at, is_delivered, remove_at, removed_at) FROM stdin;
\.
COPY public.part_inputs (campaign_id, cluster_id, sha256, is_packed) FROM stdin;
\.
COPY public.processes (host, pid, name, leader, seen_at, activity, activity_since, silent_at, late_at) FROM stdin;
\.
COPY public.projects (id, name) FROM stdin;
\.
COPY public.property_kinds (name, kind) FROM stdin;
\.
COPY public.quarantines (id, module, campaign_id, cluster_id, since, until, failures, error) FROM stdin;
\.
COPY public.queue_limits (cluster_id, local_user, most, refused, misses, looks, look_at, counts_arrays, said) FROM stdin;
\.
COPY public.queues (id, cluster_id, name, remote_name, requires) FROM stdin;
1	1			\N
\.
COPY public.quotas (id, cluster_id, cores, queue, project, type, grid_user, jobs, core_hours, days) FROM stdin;
1	\N	4	*	*	*	alice	\N	\N	\N
\.
COPY public.resource_documents (id, at, by, text) FROM stdin;
\.
COPY public.sent_inputs (sha256, grid_user, sent_at) FROM stdin;
\.
COPY public.sessions (id, grid_user, scope, link_sha256, sha256, created_at, expires_at, ended_at) FROM stdin;
\.
COPY public.shutdowns (job_id, at, was_heard, machine_only, is_past) FROM stdin;
\.
COPY public.ssh_keys (id, grid_user, public_key, fingerprint, comment, created_at, removed_at) FROM stdin;
\.
COPY public.stored_inputs (sha256, size, stored_at) FROM stdin;
\.
COPY public.submit_pool_queues (pool_id, queue_id, at, condition) FROM stdin;
1	1	2026-11-29 09:21:13.867356+00	\N
\.
COPY public.submit_pool_rejects (pool_id, queue_id, code, name, wanted, found, at) FROM stdin;
\.
COPY public.submit_pools (id, digest, project, requirements, created_at, updated_at, last_used_at, version, closed) FROM stdin;
1	0ff42ddd29d4f65d79a324161a35cf26f2c05edc1e175aa30358920a02f3bc4a		{"job": {"cpu": 1, "nodes": 1, "walltime": 3600}, "requirement": {}}	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:13.867356+00	2026-11-29 09:21:14.295377+00	3	{}
\.
COPY public.subscriptions (id, grid_user, campaign_id, is_of_grid, channel, target, tags, severity, secret, created_at) FROM stdin;
\.
COPY public.targets (kind, name, share) FROM stdin;
\.
COPY public.task_counts (id, campaign_id, state, n, known, expected) FROM stdin;
1	1	waiting	6	0	0
2	1	assigned	3	0	0
3	1	waiting	-3	0	0
4	1	assigned	1	0	0
5	1	waiting	-1	0	0
6	1	assigned	-1	0	0
7	1	done	1	0	0
8	1	assigned	-1	0	0
9	1	failed	1	0	0
10	2	waiting	1	0	0
\.
COPY public.task_history (campaign_id, number, parameter, state, attempts, cluster_id, exit_code, started_at, seconds, node) FROM stdin;
\.
COPY public.task_inputs (campaign_id, number, place, sha256) FROM stdin;
\.
COPY public.task_places (campaign_id, number, cluster_id, is_furnished, at) FROM stdin;
\.
COPY public.tasks (id, campaign_id, bucket_id, number, parameter, state, priority, attempts, failures, deaths, resubmissions, checkpoints, checkpoint_cluster_id, stopped_at, failed_cluster_id, expected) FROM stdin;
5	1	1	4	"4"	waiting	10	0	0	0	0	0	\N	\N	\N	\N
6	1	1	5	"5"	waiting	10	0	0	0	0	0	\N	\N	\N	\N
3	1	1	2	"2"	assigned	10	1	0	0	0	0	\N	\N	\N	\N
4	1	1	3	"3"	assigned	10	1	0	0	0	0	\N	\N	\N	\N
1	1	1	0	"0"	done	10	1	0	0	0	0	\N	\N	\N	\N
2	1	1	1	"1"	failed	10	1	1	0	0	0	\N	\N	1	\N
7	2	2	0	"x"	waiting	10	0	0	0	0	0	\N	\N	\N	\N
\.
COPY public.tokens (id, grid_user, comment, scope, sha256, created_at, expires_at, last_used_at, revoked_at, ssh_key_id) FROM stdin;
\.
COPY public.usages (id, grid_user, project_id, used, asked, at) FROM stdin;
1	alice	\N	10	3600	2026-11-29 09:21:13.867356+00
2	alice	\N	10	3600	2026-11-29 09:21:13.867356+00
\.
COPY public.user_mappings (cluster_id, grid_user, local_user) FROM stdin;
\.
COPY public.waiting_reasons (cluster_id, local_user, campaign_id, said, meaning, is_stuck, jobs, starts_at, since) FROM stdin;
\.
SELECT pg_catalog.setval('public.accounting_id_seq', 2, true);
SELECT pg_catalog.setval('public.archived_accounting_id_seq', 1, false);
SELECT pg_catalog.setval('public.audit_id_seq', 2, true);
SELECT pg_catalog.setval('public.batches_id_seq', 1, false);
SELECT pg_catalog.setval('public.buckets_id_seq', 2, true);
SELECT pg_catalog.setval('public.campaigns_id_seq', 2, true);
SELECT pg_catalog.setval('public.challenges_id_seq', 1, false);
SELECT pg_catalog.setval('public.clusters_id_seq', 1, true);
SELECT pg_catalog.setval('public.dependencies_id_seq', 1, false);
SELECT pg_catalog.setval('public.end_counts_id_seq', 4, true);
SELECT pg_catalog.setval('public.events_id_seq', 2, true);
SELECT pg_catalog.setval('public.forecast_history_id_seq', 1, false);
SELECT pg_catalog.setval('public.forecasts_id_seq', 1, false);
SELECT pg_catalog.setval('public.holds_id_seq', 1, true);
SELECT pg_catalog.setval('public.jobs_id_seq', 4, true);
SELECT pg_catalog.setval('public.messages_id_seq', 1, false);
SELECT pg_catalog.setval('public.node_classes_id_seq', 1, false);
SELECT pg_catalog.setval('public.projects_id_seq', 1, false);
SELECT pg_catalog.setval('public.quarantines_id_seq', 1, false);
SELECT pg_catalog.setval('public.queues_id_seq', 1, true);
SELECT pg_catalog.setval('public.quotas_id_seq', 1, true);
SELECT pg_catalog.setval('public.resource_documents_id_seq', 1, false);
SELECT pg_catalog.setval('public.sessions_id_seq', 1, false);
SELECT pg_catalog.setval('public.ssh_keys_id_seq', 1, false);
SELECT pg_catalog.setval('public.submit_pools_id_seq', 2, true);
SELECT pg_catalog.setval('public.subscriptions_id_seq', 1, false);
SELECT pg_catalog.setval('public.task_counts_id_seq', 10, true);
SELECT pg_catalog.setval('public.tasks_id_seq', 7, true);
SELECT pg_catalog.setval('public.tokens_id_seq', 1, false);
SELECT pg_catalog.setval('public.usages_id_seq', 2, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.accounting
    ADD CONSTRAINT pk_accounting PRIMARY KEY (id);
ALTER TABLE ONLY public.affinities
    ADD CONSTRAINT pk_affinities PRIMARY KEY (grid_user, cluster_id);
ALTER TABLE ONLY public.archived_accounting
    ADD CONSTRAINT pk_archived_accounting PRIMARY KEY (id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT pk_attempts PRIMARY KEY (task_id, number);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT pk_audit PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_chain
    ADD CONSTRAINT pk_audit_chain PRIMARY KEY (one);
ALTER TABLE ONLY public.batches
    ADD CONSTRAINT pk_batches PRIMARY KEY (id);
ALTER TABLE ONLY public.bucket_averages
    ADD CONSTRAINT pk_bucket_averages PRIMARY KEY (bucket_id, cluster_id);
ALTER TABLE ONLY public.bucket_pools
    ADD CONSTRAINT pk_bucket_pools PRIMARY KEY (bucket_id, cluster_id);
ALTER TABLE ONLY public.buckets
    ADD CONSTRAINT pk_buckets PRIMARY KEY (id);
ALTER TABLE ONLY public.cached_inputs
    ADD CONSTRAINT pk_cached_inputs PRIMARY KEY (cluster_id, local_user, sha256, is_packed);
ALTER TABLE ONLY public.campaign_clusters
    ADD CONSTRAINT pk_campaign_clusters PRIMARY KEY (campaign_id, cluster_id);
ALTER TABLE ONLY public.campaign_inputs
    ADD CONSTRAINT pk_campaign_inputs PRIMARY KEY (campaign_id, sha256);
ALTER TABLE ONLY public.campaign_limits
    ADD CONSTRAINT pk_campaign_limits PRIMARY KEY (campaign_id, cluster_id, limit_name);
ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT pk_campaigns PRIMARY KEY (id);
ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT pk_challenges PRIMARY KEY (id);
ALTER TABLE ONLY public.checkpoint_requests
    ADD CONSTRAINT pk_checkpoint_requests PRIMARY KEY (job_id);
ALTER TABLE ONLY public.cluster_forecasts
    ADD CONSTRAINT pk_cluster_forecasts PRIMARY KEY (cluster_id);
ALTER TABLE ONLY public.cluster_paces
    ADD CONSTRAINT pk_cluster_paces PRIMARY KEY (cluster_id);
ALTER TABLE ONLY public.cluster_states
    ADD CONSTRAINT pk_cluster_states PRIMARY KEY (cluster_id);
ALTER TABLE ONLY public.cluster_usage
    ADD CONSTRAINT pk_cluster_usage PRIMARY KEY (cluster_id, at);
ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT pk_clusters PRIMARY KEY (id);
ALTER TABLE ONLY public.command_counts
    ADD CONSTRAINT pk_command_counts PRIMARY KEY (cluster_id, module);
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT pk_completions PRIMARY KEY (campaign_id, cluster_id, minute);
ALTER TABLE ONLY public.cuts
    ADD CONSTRAINT pk_cuts PRIMARY KEY (campaign_id, cluster_id);
ALTER TABLE ONLY public.declared_properties
    ADD CONSTRAINT pk_declared_properties PRIMARY KEY (level, place, project, name);
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT pk_dependencies PRIMARY KEY (id);
ALTER TABLE ONLY public.discoveries
    ADD CONSTRAINT pk_discoveries PRIMARY KEY (cluster_id);
ALTER TABLE ONLY public.drains
    ADD CONSTRAINT pk_drains PRIMARY KEY (cluster_id);
ALTER TABLE ONLY public.earlier_inputs
    ADD CONSTRAINT pk_earlier_inputs PRIMARY KEY (campaign_id, cluster_id, version);
ALTER TABLE ONLY public.end_counts
    ADD CONSTRAINT pk_end_counts PRIMARY KEY (id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT pk_events PRIMARY KEY (id);
ALTER TABLE ONLY public.excluded_nodes
    ADD CONSTRAINT pk_excluded_nodes PRIMARY KEY (cluster_id, node);
ALTER TABLE ONLY public.forecast_history
    ADD CONSTRAINT pk_forecast_history PRIMARY KEY (id);
ALTER TABLE ONLY public.forecasts
    ADD CONSTRAINT pk_forecasts PRIMARY KEY (id);
ALTER TABLE ONLY public.grid
    ADD CONSTRAINT pk_grid PRIMARY KEY (one);
ALTER TABLE ONLY public.halts
    ADD CONSTRAINT pk_halts PRIMARY KEY (job_id);
ALTER TABLE ONLY public.holds
    ADD CONSTRAINT pk_holds PRIMARY KEY (id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT pk_jobs PRIMARY KEY (id);
ALTER TABLE ONLY public.kills
    ADD CONSTRAINT pk_kills PRIMARY KEY (job_id);
ALTER TABLE ONLY public.last_durations
    ADD CONSTRAINT pk_last_durations PRIMARY KEY (command, parameter);
ALTER TABLE ONLY public.limits
    ADD CONSTRAINT pk_limits PRIMARY KEY (name);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT pk_messages PRIMARY KEY (id);
ALTER TABLE ONLY public.modules
    ADD CONSTRAINT pk_modules PRIMARY KEY (name);
ALTER TABLE ONLY public.node_classes
    ADD CONSTRAINT pk_node_classes PRIMARY KEY (id);
ALTER TABLE ONLY public.node_drains
    ADD CONSTRAINT pk_node_drains PRIMARY KEY (cluster_id, node);
ALTER TABLE ONLY public.offers
    ADD CONSTRAINT pk_offers PRIMARY KEY (campaign_id, cluster_id);
ALTER TABLE ONLY public.parcels
    ADD CONSTRAINT pk_parcels PRIMARY KEY (task_id);
ALTER TABLE ONLY public.part_inputs
    ADD CONSTRAINT pk_part_inputs PRIMARY KEY (campaign_id, cluster_id, sha256, is_packed);
ALTER TABLE ONLY public.processes
    ADD CONSTRAINT pk_processes PRIMARY KEY (host, pid);
ALTER TABLE ONLY public.projects
    ADD CONSTRAINT pk_projects PRIMARY KEY (id);
ALTER TABLE ONLY public.property_kinds
    ADD CONSTRAINT pk_property_kinds PRIMARY KEY (name);
ALTER TABLE ONLY public.quarantines
    ADD CONSTRAINT pk_quarantines PRIMARY KEY (id);
ALTER TABLE ONLY public.queue_limits
    ADD CONSTRAINT pk_queue_limits PRIMARY KEY (cluster_id, local_user);
ALTER TABLE ONLY public.queues
    ADD CONSTRAINT pk_queues PRIMARY KEY (id);
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT pk_quotas PRIMARY KEY (id);
ALTER TABLE ONLY public.resource_documents
    ADD CONSTRAINT pk_resource_documents PRIMARY KEY (id);
ALTER TABLE ONLY public.sent_inputs
    ADD CONSTRAINT pk_sent_inputs PRIMARY KEY (sha256, grid_user);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (id);
ALTER TABLE ONLY public.shutdowns
    ADD CONSTRAINT pk_shutdowns PRIMARY KEY (job_id);
ALTER TABLE ONLY public.ssh_keys
    ADD CONSTRAINT pk_ssh_keys PRIMARY KEY (id);
ALTER TABLE ONLY public.stored_inputs
    ADD CONSTRAINT pk_stored_inputs PRIMARY KEY (sha256);
ALTER TABLE ONLY public.submit_pool_queues
    ADD CONSTRAINT pk_submit_pool_queues PRIMARY KEY (pool_id, queue_id);
ALTER TABLE ONLY public.submit_pool_rejects
    ADD CONSTRAINT pk_submit_pool_rejects PRIMARY KEY (pool_id, queue_id);
ALTER TABLE ONLY public.submit_pools
    ADD CONSTRAINT pk_submit_pools PRIMARY KEY (id);
ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT pk_subscriptions PRIMARY KEY (id);
ALTER TABLE ONLY public.targets
    ADD CONSTRAINT pk_targets PRIMARY KEY (kind, name);
ALTER TABLE ONLY public.task_counts
    ADD CONSTRAINT pk_task_counts PRIMARY KEY (id);
ALTER TABLE ONLY public.task_history
    ADD CONSTRAINT pk_task_history PRIMARY KEY (campaign_id, number);
ALTER TABLE ONLY public.task_inputs
    ADD CONSTRAINT pk_task_inputs PRIMARY KEY (campaign_id, number, place);
ALTER TABLE ONLY public.task_places
    ADD CONSTRAINT pk_task_places PRIMARY KEY (campaign_id, number);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT pk_tasks PRIMARY KEY (id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT pk_tokens PRIMARY KEY (id);
ALTER TABLE ONLY public.usages
    ADD CONSTRAINT pk_usages PRIMARY KEY (id);
ALTER TABLE ONLY public.user_mappings
    ADD CONSTRAINT pk_user_mappings PRIMARY KEY (cluster_id, grid_user);
ALTER TABLE ONLY public.waiting_reasons
    ADD CONSTRAINT pk_waiting_reasons PRIMARY KEY (cluster_id, local_user, campaign_id, said);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT uq_attempts_job_id_position UNIQUE (job_id, "position");
ALTER TABLE ONLY public.batches
    ADD CONSTRAINT uq_batches_tag UNIQUE (tag);
ALTER TABLE ONLY public.buckets
    ADD CONSTRAINT uq_buckets_id_campaign_id UNIQUE (id, campaign_id);
ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT uq_challenges_nonce UNIQUE (nonce);
ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT uq_clusters_name UNIQUE (name);
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT uq_dependencies_campaign_id_required_id UNIQUE (campaign_id, required_id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT uq_jobs_batch_id_array_index UNIQUE (batch_id, array_index);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT uq_messages_key UNIQUE (key);
ALTER TABLE ONLY public.projects
    ADD CONSTRAINT uq_projects_name UNIQUE (name);
ALTER TABLE ONLY public.queues
    ADD CONSTRAINT uq_queues_cluster_id_name UNIQUE (cluster_id, name);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT uq_sessions_link_sha256 UNIQUE (link_sha256);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT uq_sessions_sha256 UNIQUE (sha256);
ALTER TABLE ONLY public.submit_pools
    ADD CONSTRAINT uq_submit_pools_digest_project UNIQUE (digest, project);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT uq_tasks_campaign_id_number UNIQUE (campaign_id, number);
CREATE INDEX ix_accounting_news ON public.accounting USING btree (id) WHERE (NOT is_sum);
CREATE UNIQUE INDEX ix_accounting_sums ON public.accounting USING btree (day, grid_user, project, cluster, outcome, is_replica, type) WHERE is_sum;
CREATE INDEX ix_attempts_replicas ON public.attempts USING btree (task_id) WHERE is_replica;
CREATE INDEX ix_audit_at ON public.audit USING btree (at);
CREATE INDEX ix_batches_campaign_id ON public.batches USING btree (campaign_id);
CREATE INDEX ix_batches_launching ON public.batches USING btree (cluster_id) WHERE (state = 'launching'::public.batch_state);
CREATE INDEX ix_batches_submitted ON public.batches USING btree (settled_at) WHERE (state = 'submitted'::public.batch_state);
CREATE INDEX ix_bucket_pools_pool_id_cluster_id ON public.bucket_pools USING btree (pool_id, cluster_id);
CREATE INDEX ix_campaign_clusters_cluster_id ON public.campaign_clusters USING btree (cluster_id);
CREATE INDEX ix_campaign_clusters_collecting ON public.campaign_clusters USING btree (cluster_id) WHERE (uncollected > 0);
CREATE INDEX ix_campaign_clusters_hours ON public.campaign_clusters USING btree (campaign_id) WHERE ((settings ->> 'type'::text) = ANY (ARRAY['nightly'::text, 'semi-best-effort'::text]));
CREATE INDEX ix_campaign_clusters_lacking ON public.campaign_clusters USING btree (campaign_id) WHERE lacks_inputs;
CREATE INDEX ix_campaign_clusters_stored ON public.campaign_clusters USING btree (campaign_id) WHERE ((stored_bytes > 0) OR (uncollected > 0));
CREATE INDEX ix_campaign_inputs_sha256 ON public.campaign_inputs USING btree (sha256);
CREATE INDEX ix_campaign_limits_limit_name ON public.campaign_limits USING btree (limit_name);
CREATE INDEX ix_campaigns_furnished ON public.campaigns USING btree (id) WHERE (tasks_have_inputs AND (state = 'in_treatment'::public.campaign_state));
CREATE INDEX ix_campaigns_grid_user_id ON public.campaigns USING btree (grid_user, id);
CREATE INDEX ix_campaigns_grid_user_submission_key ON public.campaigns USING btree (grid_user, submission_key) WHERE (submission_key IS NOT NULL);
CREATE INDEX ix_campaigns_open ON public.campaigns USING btree (id) WHERE (state = 'in_treatment'::public.campaign_state);
CREATE INDEX ix_campaigns_unmatched ON public.campaigns USING btree (id) WHERE ((unmatched_from IS NOT NULL) AND (state = 'in_treatment'::public.campaign_state));
CREATE INDEX ix_checkpoint_requests_open ON public.checkpoint_requests USING btree (job_id) WHERE is_open;
CREATE INDEX ix_dependencies_required_id ON public.dependencies USING btree (required_id);
CREATE INDEX ix_dependencies_shut ON public.dependencies USING btree (required_id) WHERE (met_at IS NULL);
CREATE INDEX ix_events_campaign ON public.events USING btree (campaign_id, id);
CREATE INDEX ix_events_job ON public.events USING btree (job_id);
CREATE INDEX ix_events_news ON public.events USING btree (id) WHERE is_news;
CREATE INDEX ix_events_task ON public.events USING btree (task_id);
CREATE INDEX ix_forecast_history_campaign_id_at ON public.forecast_history USING btree (campaign_id, at);
CREATE INDEX ix_jobs_campaign ON public.jobs USING btree (campaign_id, cluster_id, id);
CREATE INDEX ix_jobs_campaign_live ON public.jobs USING btree (campaign_id, cluster_id, state) WHERE (state <> 'ended'::public.job_state);
CREATE INDEX ix_jobs_live ON public.jobs USING btree (cluster_id, state, id) WHERE (state <> 'ended'::public.job_state);
CREATE INDEX ix_jobs_preempted ON public.jobs USING btree (cluster_id, ended_at) WHERE (outcome = 'preempted'::public.outcome);
CREATE INDEX ix_jobs_started ON public.jobs USING btree (cluster_id, started_at) WHERE (started_at IS NOT NULL);
CREATE INDEX ix_kills_open ON public.kills USING btree (job_id) WHERE is_open;
CREATE INDEX ix_messages_campaign_id ON public.messages USING btree (campaign_id);
CREATE INDEX ix_messages_subscription_id_campaign_id_id ON public.messages USING btree (subscription_id, campaign_id, id);
CREATE INDEX ix_messages_waiting ON public.messages USING btree (due_at) WHERE (state = 'waiting'::public.message_state);
CREATE INDEX ix_node_classes_cluster_id ON public.node_classes USING btree (cluster_id);
CREATE INDEX ix_parcels_awaited ON public.parcels USING btree (campaign_id, cluster_id, ended_at, task_id) WHERE ((collected_at IS NULL) AND (lost_at IS NULL));
CREATE INDEX ix_parcels_campaign_id_cluster_id ON public.parcels USING btree (campaign_id, cluster_id);
CREATE INDEX ix_parcels_kept ON public.parcels USING btree (cluster_id, remove_at) WHERE ((collected_at IS NOT NULL) AND (removed_at IS NULL));
CREATE INDEX ix_sent_inputs_grid_user ON public.sent_inputs USING btree (grid_user);
CREATE INDEX ix_sessions_grid_user ON public.sessions USING btree (grid_user);
CREATE UNIQUE INDEX ix_ssh_keys_grid_user ON public.ssh_keys USING btree (grid_user, fingerprint) WHERE (removed_at IS NULL);
CREATE INDEX ix_submit_pool_queues_queue_id ON public.submit_pool_queues USING btree (queue_id);
CREATE INDEX ix_submit_pool_rejects_queue_id ON public.submit_pool_rejects USING btree (queue_id);
CREATE INDEX ix_submit_pools_closed ON public.submit_pools USING btree (id) WHERE (closed <> '{}'::bigint[]);
CREATE INDEX ix_submit_pools_updated_at ON public.submit_pools USING btree (updated_at);
CREATE INDEX ix_submit_pools_version ON public.submit_pools USING btree (version);
CREATE INDEX ix_task_counts_campaign_id ON public.task_counts USING btree (campaign_id);
CREATE INDEX ix_task_inputs_sha256 ON public.task_inputs USING btree (sha256);
CREATE INDEX ix_task_places_campaign_id_cluster_id ON public.task_places USING btree (campaign_id, cluster_id);
CREATE INDEX ix_tasks_blocked ON public.tasks USING btree (campaign_id, number) WHERE (state < 'waiting'::public.task_state);
CREATE INDEX ix_tasks_continuing ON public.tasks USING btree (campaign_id, checkpoint_cluster_id, id) WHERE ((state = 'waiting'::public.task_state) AND (checkpoint_cluster_id IS NOT NULL));
CREATE INDEX ix_tasks_elsewhere ON public.tasks USING btree (campaign_id, failed_cluster_id) WHERE ((state = 'waiting'::public.task_state) AND (failed_cluster_id IS NOT NULL));
CREATE INDEX ix_tasks_expected ON public.tasks USING btree (campaign_id, expected) WHERE ((state = ANY (ARRAY['waiting'::public.task_state, 'assigned'::public.task_state])) AND (expected IS NOT NULL));
CREATE INDEX ix_tasks_failed ON public.tasks USING btree (campaign_id) WHERE (state = 'failed'::public.task_state);
CREATE INDEX ix_tasks_waiting ON public.tasks USING btree (bucket_id, priority DESC, expected DESC, id) WHERE ((state = 'waiting'::public.task_state) AND (checkpoint_cluster_id IS NULL));
CREATE INDEX ix_tokens_grid_user ON public.tokens USING btree (grid_user);
CREATE INDEX ix_tokens_ssh_key_id ON public.tokens USING btree (ssh_key_id);
CREATE INDEX ix_waiting_reasons_campaign_id ON public.waiting_reasons USING btree (campaign_id);
CREATE UNIQUE INDEX uq_archived_accounting ON public.archived_accounting USING btree (day, grid_user, project, cluster, outcome, is_replica, type);
CREATE UNIQUE INDEX uq_attempts_live ON public.attempts USING btree (task_id) WHERE ((outcome IS NULL) AND (NOT is_replica));
CREATE UNIQUE INDEX uq_buckets_anywhere ON public.buckets USING btree (campaign_id, requirements) WHERE (cluster_id IS NULL);
CREATE UNIQUE INDEX uq_buckets_tested ON public.buckets USING btree (campaign_id, cluster_id) WHERE (cluster_id IS NOT NULL);
CREATE UNIQUE INDEX uq_events_open ON public.events USING btree (code, subject) WHERE (closed_at IS NULL);
CREATE UNIQUE INDEX uq_forecasts_campaign ON public.forecasts USING btree (campaign_id) WHERE (cluster_id IS NULL);
CREATE UNIQUE INDEX uq_forecasts_cluster ON public.forecasts USING btree (campaign_id, cluster_id);
CREATE UNIQUE INDEX uq_holds_campaign ON public.holds USING btree (campaign_id) WHERE ((cluster_id IS NULL) AND (job_id IS NULL));
CREATE UNIQUE INDEX uq_holds_cluster ON public.holds USING btree (campaign_id, cluster_id) WHERE (cluster_id IS NOT NULL);
CREATE UNIQUE INDEX uq_holds_job ON public.holds USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE UNIQUE INDEX uq_quarantines_campaign ON public.quarantines USING btree (module, campaign_id) WHERE (campaign_id IS NOT NULL);
CREATE UNIQUE INDEX uq_quarantines_cluster ON public.quarantines USING btree (module, cluster_id) WHERE (cluster_id IS NOT NULL);
CREATE UNIQUE INDEX uq_quotas_cluster ON public.quotas USING btree (queue, project, type, grid_user, cluster_id) WHERE (cluster_id IS NOT NULL);
CREATE UNIQUE INDEX uq_quotas_grid ON public.quotas USING btree (queue, project, type, grid_user) WHERE (cluster_id IS NULL);
CREATE UNIQUE INDEX uq_subscriptions_all ON public.subscriptions USING btree (grid_user, is_of_grid, channel, target) WHERE (campaign_id IS NULL);
CREATE UNIQUE INDEX uq_subscriptions_campaign ON public.subscriptions USING btree (campaign_id, grid_user, channel, target) WHERE (campaign_id IS NOT NULL);
CREATE TRIGGER count_delete AFTER DELETE ON public.tasks REFERENCING OLD TABLE AS old_tasks FOR EACH STATEMENT EXECUTE FUNCTION public.count_tasks();
CREATE TRIGGER count_insert AFTER INSERT ON public.tasks REFERENCING NEW TABLE AS new_tasks FOR EACH STATEMENT EXECUTE FUNCTION public.count_tasks();
CREATE TRIGGER count_update AFTER UPDATE ON public.tasks REFERENCING OLD TABLE AS old_tasks NEW TABLE AS new_tasks FOR EACH STATEMENT EXECUTE FUNCTION public.count_tasks();
CREATE TRIGGER forget_audit AFTER DELETE ON public.audit REFERENCING OLD TABLE AS old_entries FOR EACH STATEMENT EXECUTE FUNCTION public.forget_audit();
CREATE TRIGGER keep_audit BEFORE UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.keep_audit();
CREATE TRIGGER keep_audit_chain AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.audit_chain FOR EACH STATEMENT EXECUTE FUNCTION public.keep_audit_chain();
CREATE TRIGGER link_audit BEFORE INSERT ON public.audit FOR EACH ROW EXECUTE FUNCTION public.link_audit();
ALTER TABLE ONLY public.affinities
    ADD CONSTRAINT fk_affinities_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT fk_attempts_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT fk_attempts_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.batches
    ADD CONSTRAINT fk_batches_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.batches
    ADD CONSTRAINT fk_batches_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.bucket_averages
    ADD CONSTRAINT fk_bucket_averages_bucket_id FOREIGN KEY (bucket_id) REFERENCES public.buckets(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.bucket_averages
    ADD CONSTRAINT fk_bucket_averages_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.bucket_pools
    ADD CONSTRAINT fk_bucket_pools_bucket_id FOREIGN KEY (bucket_id) REFERENCES public.buckets(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.bucket_pools
    ADD CONSTRAINT fk_bucket_pools_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.bucket_pools
    ADD CONSTRAINT fk_bucket_pools_pool_id FOREIGN KEY (pool_id) REFERENCES public.submit_pools(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.buckets
    ADD CONSTRAINT fk_buckets_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.buckets
    ADD CONSTRAINT fk_buckets_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.cached_inputs
    ADD CONSTRAINT fk_cached_inputs_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.campaign_clusters
    ADD CONSTRAINT fk_campaign_clusters_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.campaign_clusters
    ADD CONSTRAINT fk_campaign_clusters_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.campaign_inputs
    ADD CONSTRAINT fk_campaign_inputs_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.campaign_inputs
    ADD CONSTRAINT fk_campaign_inputs_sha256 FOREIGN KEY (sha256) REFERENCES public.stored_inputs(sha256);
ALTER TABLE ONLY public.campaign_limits
    ADD CONSTRAINT fk_campaign_limits_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.campaign_limits
    ADD CONSTRAINT fk_campaign_limits_limit_name FOREIGN KEY (limit_name) REFERENCES public.limits(name);
ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT fk_campaigns_project_id FOREIGN KEY (project_id) REFERENCES public.projects(id);
ALTER TABLE ONLY public.checkpoint_requests
    ADD CONSTRAINT fk_checkpoint_requests_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.cluster_forecasts
    ADD CONSTRAINT fk_cluster_forecasts_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.cluster_paces
    ADD CONSTRAINT fk_cluster_paces_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.cluster_states
    ADD CONSTRAINT fk_cluster_states_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.cluster_usage
    ADD CONSTRAINT fk_cluster_usage_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.command_counts
    ADD CONSTRAINT fk_command_counts_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT fk_completions_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.completions
    ADD CONSTRAINT fk_completions_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.cuts
    ADD CONSTRAINT fk_cuts_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT fk_dependencies_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT fk_dependencies_required_id FOREIGN KEY (required_id) REFERENCES public.campaigns(id);
ALTER TABLE ONLY public.discoveries
    ADD CONSTRAINT fk_discoveries_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.drains
    ADD CONSTRAINT fk_drains_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.earlier_inputs
    ADD CONSTRAINT fk_earlier_inputs_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.end_counts
    ADD CONSTRAINT fk_end_counts_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.events
    ADD CONSTRAINT fk_events_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.events
    ADD CONSTRAINT fk_events_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.events
    ADD CONSTRAINT fk_events_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.events
    ADD CONSTRAINT fk_events_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.excluded_nodes
    ADD CONSTRAINT fk_excluded_nodes_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.forecast_history
    ADD CONSTRAINT fk_forecast_history_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.forecast_history
    ADD CONSTRAINT fk_forecast_history_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.forecasts
    ADD CONSTRAINT fk_forecasts_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.forecasts
    ADD CONSTRAINT fk_forecasts_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.halts
    ADD CONSTRAINT fk_halts_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.holds
    ADD CONSTRAINT fk_holds_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.holds
    ADD CONSTRAINT fk_holds_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.holds
    ADD CONSTRAINT fk_holds_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT fk_jobs_batch_id FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT fk_jobs_bucket_id FOREIGN KEY (bucket_id) REFERENCES public.buckets(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT fk_jobs_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kills
    ADD CONSTRAINT fk_kills_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.last_durations
    ADD CONSTRAINT fk_last_durations_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT fk_messages_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT fk_messages_subscription_id FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.node_classes
    ADD CONSTRAINT fk_node_classes_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.node_drains
    ADD CONSTRAINT fk_node_drains_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.offers
    ADD CONSTRAINT fk_offers_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.parcels
    ADD CONSTRAINT fk_parcels_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.parcels
    ADD CONSTRAINT fk_parcels_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.part_inputs
    ADD CONSTRAINT fk_part_inputs_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quarantines
    ADD CONSTRAINT fk_quarantines_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quarantines
    ADD CONSTRAINT fk_quarantines_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.queue_limits
    ADD CONSTRAINT fk_queue_limits_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.queues
    ADD CONSTRAINT fk_queues_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT fk_quotas_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sent_inputs
    ADD CONSTRAINT fk_sent_inputs_sha256 FOREIGN KEY (sha256) REFERENCES public.stored_inputs(sha256) ON DELETE CASCADE;
ALTER TABLE ONLY public.shutdowns
    ADD CONSTRAINT fk_shutdowns_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.submit_pool_queues
    ADD CONSTRAINT fk_submit_pool_queues_pool_id FOREIGN KEY (pool_id) REFERENCES public.submit_pools(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.submit_pool_queues
    ADD CONSTRAINT fk_submit_pool_queues_queue_id FOREIGN KEY (queue_id) REFERENCES public.queues(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.submit_pool_rejects
    ADD CONSTRAINT fk_submit_pool_rejects_pool_id FOREIGN KEY (pool_id) REFERENCES public.submit_pools(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.submit_pool_rejects
    ADD CONSTRAINT fk_submit_pool_rejects_queue_id FOREIGN KEY (queue_id) REFERENCES public.queues(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT fk_subscriptions_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.task_history
    ADD CONSTRAINT fk_task_history_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.task_history
    ADD CONSTRAINT fk_task_history_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.task_inputs
    ADD CONSTRAINT fk_task_inputs_campaign_id FOREIGN KEY (campaign_id) REFERENCES public.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.task_places
    ADD CONSTRAINT fk_task_places_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT fk_tasks_bucket_id_campaign_id FOREIGN KEY (bucket_id, campaign_id) REFERENCES public.buckets(id, campaign_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT fk_tasks_checkpoint_cluster_id FOREIGN KEY (checkpoint_cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT fk_tasks_failed_cluster_id FOREIGN KEY (failed_cluster_id) REFERENCES public.clusters(id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT fk_tokens_ssh_key_id FOREIGN KEY (ssh_key_id) REFERENCES public.ssh_keys(id);
ALTER TABLE ONLY public.usages
    ADD CONSTRAINT fk_usages_project_id FOREIGN KEY (project_id) REFERENCES public.projects(id);
ALTER TABLE ONLY public.user_mappings
    ADD CONSTRAINT fk_user_mappings_cluster_id FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.waiting_reasons
    ADD CONSTRAINT fk_waiting_reasons_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id) REFERENCES public.campaign_clusters(campaign_id, cluster_id) ON DELETE CASCADE;
