-- One row a session: a fold of its journal made by whoever appends, so that a listing costs what it lists.
CREATE TABLE sessions (
    id       TEXT PRIMARY KEY,
    last_seq INTEGER NOT NULL DEFAULT 0,
    title    TEXT NOT NULL DEFAULT '',
    cwd      TEXT NOT NULL DEFAULT '',
    project  TEXT NOT NULL DEFAULT '',
    status   TEXT NOT NULL DEFAULT 'idle',
    turns    INTEGER NOT NULL DEFAULT 0,
    updated  REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_time ON sessions (updated DESC) WHERE last_seq > 0;
CREATE INDEX sessions_by_folder ON sessions (cwd, updated DESC) WHERE last_seq > 0;

-- The journals. Append-only: nothing updates a row.
CREATE TABLE entries (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL CHECK (seq > 0),
    at      REAL NOT NULL,
    type    TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT;
CREATE INDEX decisions ON entries (at) WHERE type IN ('judged', 'answered');

-- What waits for a person, one row an interrupt, so that `pending` does not look at sessions in which nothing waits.
CREATE TABLE pending (
    session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (session, position)
) STRICT;

-- The right to append. The row stays when the lease is released, so that a token is never used twice.
CREATE TABLE leases (
    session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    token   INTEGER NOT NULL,
    holder  TEXT NOT NULL,
    expires REAL NOT NULL
) STRICT;
