-- Versions that `reader` has read for the graph, because the recogniser of the settings gave no answer about them.
CREATE TABLE graph_fallbacks (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    reader TEXT NOT NULL
) STRICT;
