-- What the index of a space reads at its start, packed: the passages of the versions that were born after `first`, up to
-- `last`, and lived at change `seen`. Derived: what is missing here is read from the versions.
-- `generation_id` is that of the vectors in it, 0 without; the segments of one follow each other without a gap.

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
