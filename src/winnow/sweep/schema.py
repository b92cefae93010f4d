"""The tables of a sweep's database, and what each is for."""

SCHEMA_VERSION = 1

SCHEMA = """
-- What makes timings comparable: one device in one state, measured in one way.
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE,
  engine TEXT NOT NULL,
  arch TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  policy TEXT NOT NULL,
  created_by TEXT NOT NULL
);

-- What was asked for: kernels and graphs. `rounds` are complete; `ended` says why it stopped, NULL while it runs.
CREATE TABLE plan (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(id),
  identity TEXT NOT NULL,
  corpus TEXT NOT NULL,
  rounds INTEGER NOT NULL DEFAULT 0,
  ended TEXT,
  last_used INTEGER NOT NULL,
  UNIQUE (session, identity)
);

CREATE TABLE kernel (
  plan INTEGER NOT NULL REFERENCES plan(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  symbol TEXT NOT NULL,
  metadata TEXT NOT NULL,
  priority INTEGER NOT NULL,
  tier INTEGER NOT NULL,
  PRIMARY KEY (plan, position)
);

-- `declined` is the family's reason when the graph is not its own; `batch` is where the graph's timings are.
CREATE TABLE graph (
  plan INTEGER NOT NULL REFERENCES plan(id),
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  fields TEXT NOT NULL,
  flops INTEGER NOT NULL,
  declined TEXT,
  batch INTEGER REFERENCES batch(id),
  PRIMARY KEY (plan, position)
);

-- A kernel of a graph: its rank and entry where it serves the graph, else the reason why it does not.
CREATE TABLE pair (
  plan INTEGER NOT NULL REFERENCES plan(id),
  graph INTEGER NOT NULL,
  kernel INTEGER NOT NULL,
  rank INTEGER,
  entry TEXT,
  refusal TEXT,
  PRIMARY KEY (plan, graph, kernel),
  CHECK ((rank IS NULL) = (entry IS NULL) AND (rank IS NULL) = (refusal IS NOT NULL))
);

CREATE TABLE correctness (
  session INTEGER NOT NULL REFERENCES session(id),
  graph TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  entry TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('passed', 'failed', 'unchecked')),
  stage TEXT NOT NULL,
  fault TEXT CHECK (fault IN ('crash', 'timeout', 'load')),
  detail TEXT NOT NULL,
  max_abs REAL,
  max_rel REAL,
  PRIMARY KEY (session, graph, sha256, entry)
);

-- Arms that were measured side by side. Times of two batches are never compared.
CREATE TABLE batch (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(id),
  graph TEXT NOT NULL
);

CREATE TABLE arm (
  batch INTEGER NOT NULL REFERENCES batch(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('variant', 'control')),
  sha256 TEXT NOT NULL,
  entry TEXT NOT NULL,
  PRIMARY KEY (batch, position)
);

-- Raw samples in nanoseconds, in the order in which they were taken; `taken_at` in seconds since 1970.
CREATE TABLE measurement (
  batch INTEGER NOT NULL,
  arm INTEGER NOT NULL,
  round INTEGER NOT NULL CHECK (round >= 0),
  samples TEXT NOT NULL,
  taken_at REAL NOT NULL,
  PRIMARY KEY (batch, arm, round),
  FOREIGN KEY (batch, arm) REFERENCES arm(batch, position)
);

CREATE TABLE fault (
  batch INTEGER NOT NULL,
  arm INTEGER NOT NULL,
  round INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (batch, arm),
  FOREIGN KEY (batch, arm) REFERENCES arm(batch, position)
);

-- An arm that later rounds leave out, and how many times slower than the best it was at the least.
CREATE TABLE pruned (
  batch INTEGER NOT NULL,
  arm INTEGER NOT NULL,
  after_round INTEGER NOT NULL,
  factor REAL NOT NULL,
  PRIMARY KEY (batch, arm),
  FOREIGN KEY (batch, arm) REFERENCES arm(batch, position)
);
"""
