-- Packed rows that the index of a space loads at its start. A segment has the passages of the versions that were
-- inserted after `first`, up to `last`, and were open at change `seen`. It is derived: missing passages are read from
-- the versions. `generation_id` is that of its vectors, 0 without. The segments of a generation follow each other
-- without a gap.

CREATE TABLE segments (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    generation_id INTEGER NOT NULL,
    format INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (space_id, generation_id, format, first)
) STRICT;
