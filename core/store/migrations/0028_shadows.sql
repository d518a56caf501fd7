-- A space may have a second model, its shadow. New text is embedded by both, and one batch exchanges them.
-- `shadow_served` is 1 when the shadow was the model of the space before it became the shadow.

ALTER TABLE spaces ADD COLUMN shadow_generation_id INTEGER REFERENCES generations (id);
ALTER TABLE spaces ADD COLUMN shadow_served INTEGER NOT NULL DEFAULT 0;
