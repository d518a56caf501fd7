/** Filters as options of a verb, and the filter of the API that they make. */

/** A filter of the API, such as `{or: [{tags: "a"}, {created_at: {gte: "2026-01-01"}}]}`. */
export type Filter = Record<string, unknown>;
/** A value, or several of which one must be equal. */
export type Word = string | readonly string[];
/** RFC 3339, a date, or a Date. */
export type Time = string | Date;

/** Conditions on memories; all must hold. Others, such as `or` and `not`, go into `filter`. */
export interface Filters {
  category?: Word;
  key?: Word;
  kind?: Word;
  type?: Word;
  status?: Word;
  importance?: Word;
  author?: Word;
  source?: Word;
  source_class?: Word;
  tags?: Word;
  tags_all?: readonly string[];
  entity?: Word;
  language?: Word;
  document?: Word;
  derived_from?: Word;
  parent_id?: string;
  metadata?: Record<string, unknown>;
  after?: Time;
  before?: Time;
  updated_after?: Time;
  updated_before?: Time;
  event_after?: Time;
  event_before?: Time;
  valid_at?: Time;
  min_importance?: string;
  min_trust?: number;
  filter?: Filter | null;
}

type Condition = (value: unknown) => Filter[];

const equal = (field: string): Condition => (value) => [{ [field]: value }];
const compared = (field: string, operator: string): Condition => (value) => [{ [field]: { [operator]: value } }];

const CONDITIONS: Record<keyof Filters, Condition> = {
  category: equal("category"),
  key: equal("key"),
  kind: equal("kind"),
  type: equal("type"),
  status: equal("status"),
  importance: equal("importance"),
  author: equal("author"),
  source: equal("source"),
  source_class: equal("source_class"),
  tags: equal("tags"),
  tags_all: compared("tags", "all"),
  entity: equal("entity"),
  language: equal("language"),
  document: equal("document"),
  derived_from: equal("derived_from"),
  parent_id: equal("parent_id"),
  metadata: (value) => leaves("metadata", value),
  after: compared("created_at", "gte"),
  before: compared("created_at", "lt"),
  updated_after: compared("updated_at", "gte"),
  updated_before: compared("updated_at", "lt"),
  event_after: compared("event_at", "gte"),
  event_before: compared("event_at", "lt"),
  valid_at: equal("valid_at"),
  min_importance: compared("importance", "gte"),
  min_trust: compared("trust", "gte"),
  filter: (value) => [value as Filter],
};

/** Separate the filters among options from the rest. The filter is undefined when there is none. */
export function split<Options extends Filters>(options: Options): { filter: Filter | undefined; rest: Omit<Options, keyof Filters> } {
  const given = Object.entries(options).filter(([name, value]) => name in CONDITIONS && value !== undefined && value !== null);
  const parts = given.flatMap(([name, value]) => CONDITIONS[name as keyof Filters](value));
  const rest = Object.fromEntries(Object.entries(options).filter(([name]) => !(name in CONDITIONS)));
  return { filter: parts.length > 1 ? { and: parts } : parts[0], rest: rest as Omit<Options, keyof Filters> };
}

/** Conditions on the leaves of nested metadata: `{team: {name: "core"}}` is `metadata.team.name`. */
function leaves(path: string, value: unknown): Filter[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [{ [path]: value }];
  return Object.entries(value).flatMap(([name, one]) => leaves(`${path}.${name}`, one));
}
