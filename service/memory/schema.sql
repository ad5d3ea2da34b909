-- at: UTC in ISO 8601, so that the texts sort by time. data: the rest of the row as JSON; the values that are searched for have
-- columns of their own. library: the id of the library that was asked. A saved claim's version, index_id and sources say on which
-- state of its index it was last grounded. A feed is a holder's, of all libraries. made: the results that may be shared, by their
-- digest.
CREATE TABLE IF NOT EXISTS history (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, library TEXT NOT NULL, at TEXT NOT NULL, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS history_by_time ON history (holder, at);
CREATE TABLE IF NOT EXISTS saved (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, library TEXT NOT NULL, at TEXT NOT NULL, asked TEXT NOT NULL,
    version INTEGER NOT NULL, index_id TEXT NOT NULL, sources TEXT NOT NULL, data TEXT NOT NULL,
    UNIQUE (holder, library, asked)
);
CREATE TABLE IF NOT EXISTS alerts (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, library TEXT NOT NULL, at TEXT NOT NULL, saved TEXT NOT NULL, kind TEXT NOT NULL,
    pmid TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (saved, kind, pmid)
);
CREATE INDEX IF NOT EXISTS alerts_by_time ON alerts (holder, at);
CREATE TABLE IF NOT EXISTS feedback (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, library TEXT NOT NULL, at TEXT NOT NULL, claim TEXT NOT NULL, pmid TEXT NOT NULL,
    data TEXT NOT NULL, UNIQUE (holder, library, claim, pmid)
);
CREATE TABLE IF NOT EXISTS feeds (holder TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS shared (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, library TEXT NOT NULL, at TEXT NOT NULL, data TEXT NOT NULL, result BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS made (
    holder TEXT NOT NULL, library TEXT NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL, mode TEXT NOT NULL,
    UNIQUE (holder, library, digest)
);
