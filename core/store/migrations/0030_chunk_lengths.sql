-- The place of a chunk in its document is the sum of the lengths of the chunks before it. The index has the characters
-- and line breaks of each chunk without what it repeats, so that the sum reads no texts. The expressions are those of
-- `core/store/sql/documents.py`.
CREATE INDEX versions_lengths ON versions (
    parent_id, space_id, position, born, died,
    length(substr(content, 1 + coalesce(structure ->> '$.overlap', 0))),
    length(replace(substr(content, 1 + coalesce(structure ->> '$.overlap', 0)), char(10), ''))
) WHERE kind = 'chunk' AND document IS NOT NULL;
