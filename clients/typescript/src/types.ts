/** Options and replies of the verbs. Their fields have the API's names. */

import type { Filters } from "./filters.js";
import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];
type Query<Name extends keyof operations> = operations[Name]["parameters"] extends { query?: infer Known } ? NonNullable<Known> : never;

/** A memory. */
export type Memory = Schemas["MemoryReply"];
/** A memory that was just added, with the memories that are `similar` to it. */
export type Stored = Schemas["AddedReply"];
/** A memory after a change. */
export type Written = Schemas["WrittenReply"];
/** A memory to be added. */
export type Draft = Schemas["DraftBody"];
/** What became of one memory of several. */
export type Outcome = Schemas["ItemReply"];
/** The answer of a search: `hits`, and the `evidence` that there is anything about the query. */
export type Found = Schemas["SearchReply"];
/** A hit of a search. */
export type Hit = Schemas["HitReply"];
/** A text for a prompt, with the `citations` of its memories. */
export type Context = Schemas["ContextReply"];
/** A version of a memory, with what it changed. */
export type Version = Schemas["VersionReply"];
/** A change of a space. `point` is the point of history after it: go on from there with `since`. */
export type Change = Schemas["ChangeReply"] & { point: string };
/** The changes that an undo made. */
export type Undone = Schemas["UndoReply"];
/** The signed report of an erasure. */
export type Erased = Schemas["ErasureReply"];

/** A memory, named by its id, by `category/key` (split at its first slash), or by both parts of its address. */
export type Name = string | { category: string; key: string };

/** A kind of change. */
export type ChangeKind =
  | "created"
  | "updated"
  | "superseded"
  | "restored"
  | "deleted"
  | "expired"
  | "undone"
  | "rolled_back"
  | "merged"
  | "forked"
  | "reembedded";

/** Options of every call. */
export interface Call {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that an attempt may take, instead of the client's. */
  timeout?: number | undefined;
}

interface Once {
  /** A change with the same key is made once; without one each call has its own. */
  idempotency_key?: string;
}

interface Condition {
  /** The version that the change is meant for. If the memory has another, the change fails with `stale_version`. */
  version?: number;
}

export interface RememberOptions extends Omit<Schemas["AddBody"], "content">, Once, Call {}
export interface RememberManyOptions extends Omit<Schemas["BatchBody"], "memories" | "atomic">, Once, Call {
  /** All are stored or none, as one change. By default each stands for itself, and may fail alone. */
  atomic?: boolean;
}
export interface SearchOptions extends Omit<Schemas["SearchBody"], "query" | "filter">, Filters, Call {}
export interface RecallOptions extends Omit<SearchOptions, "min_evidence" | "explain" | "explain_ids" | "highlight" | "receipt" | "intent"> {
  /** Memories need at least this evidence; `weak` by default. */
  min_evidence?: "weak" | "strong";
}
export interface ContextOptions extends Omit<Schemas["ContextBody"], "query" | "filter">, Filters, Call {}
type GetQuery = Query<"getMemory">;
export interface GetOptions extends GetQuery, Call {}
export interface ListOptions extends Omit<Query<"listMemories">, "cursor" | "filter" | "filters">, Filters, Call {}
type Patch = Schemas["PatchBody"];
export interface UpdateOptions extends Patch, Once, Condition, Call {}
export interface SupersedeOptions extends Omit<Schemas["SupersedeBody"], "content">, Once, Condition, Call {}
export interface ForgetOptions extends Once, Condition, Call {}
type Undo = Schemas["UndoBody"];
export interface UndoOptions extends Undo, Once, Call {}
export interface ChangesOptions extends Omit<Query<"listChanges">, "change" | "filter" | "filters">, Filters, Call {
  /** Only these kinds of changes. */
  change?: ChangeKind | readonly ChangeKind[];
  /** Go on with changes as they happen, until the signal aborts. Without `since` only new changes come. */
  follow?: boolean;
}
