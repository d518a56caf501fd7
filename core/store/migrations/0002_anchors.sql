-- Places in source code that a version cites: a JSON array of objects, as core/model/anchors.py describes.
ALTER TABLE versions ADD COLUMN anchors TEXT NOT NULL DEFAULT '[]';
