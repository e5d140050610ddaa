-- Input files: where they lie, and which campaigns and tasks need them.

-- A file in the store, by the SHA-256 of its content; `size` in bytes.
CREATE TABLE stored_inputs (
    sha256 text NOT NULL,
    size bigint NOT NULL,
    stored_at timestamptz NOT NULL,
    CONSTRAINT pk_stored_inputs PRIMARY KEY (sha256),
    CONSTRAINT ck_stored_inputs_sha256 CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    CONSTRAINT ck_stored_inputs_size CHECK (size >= 0)
);

-- Who has sent all bytes of a stored file, and so may use it: to know its sum is not to have it.
CREATE TABLE sent_inputs (
    sha256 text NOT NULL,
    grid_user text NOT NULL,
    sent_at timestamptz NOT NULL,
    CONSTRAINT pk_sent_inputs PRIMARY KEY (sha256, grid_user),
    CONSTRAINT fk_sent_inputs_sha256 FOREIGN KEY (sha256) REFERENCES stored_inputs (sha256) ON DELETE CASCADE
);
CREATE INDEX ix_sent_inputs_grid_user ON sent_inputs (grid_user);

-- A file that a campaign needs on one of its clusters, or on one that it may use later.
CREATE TABLE campaign_inputs (
    campaign_id bigint NOT NULL,
    sha256 text NOT NULL,
    CONSTRAINT pk_campaign_inputs PRIMARY KEY (campaign_id, sha256),
    CONSTRAINT fk_campaign_inputs_campaign_id FOREIGN KEY (campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaign_inputs_sha256 FOREIGN KEY (sha256) REFERENCES stored_inputs (sha256)
);
CREATE INDEX ix_campaign_inputs_sha256 ON campaign_inputs (sha256);

-- A file that a campaign needs on a cluster; `is_packed`: an archive, of which its tasks get the directory.
CREATE TABLE part_inputs (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    sha256 text NOT NULL,
    is_packed boolean NOT NULL,
    CONSTRAINT pk_part_inputs PRIMARY KEY (campaign_id, cluster_id, sha256, is_packed),
    CONSTRAINT fk_part_inputs_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id)
        REFERENCES campaign_clusters (campaign_id, cluster_id) ON DELETE CASCADE
);

-- What an account has of a file on a cluster: so many bytes of it, or (`is_there`) all, verified.
CREATE TABLE cached_inputs (
    cluster_id bigint NOT NULL,
    local_user text NOT NULL,
    sha256 text NOT NULL,
    is_packed boolean NOT NULL,
    bytes bigint NOT NULL,
    is_there boolean NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT pk_cached_inputs PRIMARY KEY (cluster_id, local_user, sha256, is_packed),
    CONSTRAINT fk_cached_inputs_cluster_id FOREIGN KEY (cluster_id) REFERENCES clusters (id) ON DELETE CASCADE,
    CONSTRAINT ck_cached_inputs_bytes CHECK (bytes >= 0)
);

-- A file that a task needs of its own, by number; `place` is that of its name among the campaign's task_inputs.
CREATE TABLE task_inputs (
    campaign_id bigint NOT NULL,
    number bigint NOT NULL,
    place bigint NOT NULL,
    sha256 text NOT NULL,
    CONSTRAINT pk_task_inputs PRIMARY KEY (campaign_id, number, place),
    CONSTRAINT fk_task_inputs_campaign_id FOREIGN KEY (campaign_id) REFERENCES campaigns (id) ON DELETE CASCADE
);
CREATE INDEX ix_task_inputs_sha256 ON task_inputs (sha256);

-- The cluster on which a task is to run, for its own inputs go there since `at`, or (`is_furnished`) are there.
CREATE TABLE task_places (
    campaign_id bigint NOT NULL,
    number bigint NOT NULL,
    cluster_id bigint NOT NULL,
    is_furnished boolean NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT pk_task_places PRIMARY KEY (campaign_id, number),
    CONSTRAINT fk_task_places_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id)
        REFERENCES campaign_clusters (campaign_id, cluster_id) ON DELETE CASCADE
);
CREATE INDEX ix_task_places_campaign_id_cluster_id ON task_places (campaign_id, cluster_id);

-- The inputs of a campaign on a cluster, as in its settings, before others were sent in their place.
CREATE TABLE earlier_inputs (
    campaign_id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    version bigint NOT NULL,
    inputs jsonb NOT NULL,
    replaced_at timestamptz NOT NULL,
    CONSTRAINT pk_earlier_inputs PRIMARY KEY (campaign_id, cluster_id, version),
    CONSTRAINT fk_earlier_inputs_campaign_id_cluster_id FOREIGN KEY (campaign_id, cluster_id)
        REFERENCES campaign_clusters (campaign_id, cluster_id) ON DELETE CASCADE
);
