-- Outputs that are collected.

-- What an attempt at a task has left on a cluster, `files` of `bytes` in all, which its campaign collects.
-- It is awaited until it is here (`collected_at`), or given up (`lost_at`) after `tries`. `is_delivered`: it was
-- written where its user wants it, not to the store. It stays on the cluster until `remove_at`.
CREATE TABLE parcels (
    task_id bigint NOT NULL,
    attempt bigint NOT NULL,
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    files bigint NOT NULL,
    bytes bigint NOT NULL,
    ended_at timestamptz NOT NULL,
    tries bigint DEFAULT '0' NOT NULL,
    collected_at timestamptz,
    lost_at timestamptz,
    is_delivered boolean DEFAULT 'false' NOT NULL,
    remove_at timestamptz,
    removed_at timestamptz,
    CONSTRAINT pk_parcels PRIMARY KEY (task_id),
    CONSTRAINT fk_parcels_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id)
        REFERENCES campaign_clusters (campaign_id, cluster_id) ON DELETE CASCADE,
    CONSTRAINT fk_parcels_task_id FOREIGN KEY (task_id) REFERENCES tasks (id) ON DELETE CASCADE,
    CONSTRAINT ck_parcels_one_end CHECK (collected_at IS NULL OR lost_at IS NULL),
    CONSTRAINT ck_parcels_remove_at CHECK ((collected_at IS NULL) = (remove_at IS NULL)),
    CONSTRAINT ck_parcels_removed_at CHECK (removed_at IS NULL OR collected_at IS NOT NULL)
);
CREATE INDEX ix_parcels_awaited ON parcels (campaign_id, cluster_id, ended_at, task_id)
    WHERE collected_at IS NULL AND lost_at IS NULL;
CREATE INDEX ix_parcels_campaign_id_cluster_id ON parcels (campaign_id, cluster_id);
CREATE INDEX ix_parcels_kept ON parcels (cluster_id, remove_at) WHERE collected_at IS NOT NULL AND removed_at IS NULL;
