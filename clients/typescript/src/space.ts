/** A handle on a space: the verbs of a memory. */

import type { Client } from "openapi-fetch";
import { changes, type Page } from "./changes.js";
import { Forbidden, MuistiError, NotFound, refusal } from "./errors.js";
import { type Filter, split } from "./filters.js";
import { emptyContext, isMissing, nothingFound } from "./missing.js";
import { addParts } from "./parts.js";
import type { paths } from "./schema.js";
import { KEY, type Sending, sender } from "./sending.js";
import type {
  Call,
  Change,
  ChangesOptions,
  Context,
  ContextOptions,
  Draft,
  Erased,
  ForgetOptions,
  Found,
  GetOptions,
  ListOptions,
  Memory,
  Name,
  Outcome,
  RecallOptions,
  RememberManyOptions,
  RememberOptions,
  SearchOptions,
  Stored,
  SupersedeOptions,
  UndoOptions,
  Undone,
  UpdateOptions,
  Version,
  Written,
} from "./types.js";
import type { Parts } from "./verbs.js";

const SPACE = "/v1/spaces/{space}";
const MEMORY = `${SPACE}/memories/{memory_id}` as const;
const ENTRY = `${SPACE}/entries/{category}/{key}` as const;
const PAGE = 100;

/** A request: parts of its path beside the space, and what goes with it. Fields that are undefined are not sent. */
interface Asked extends Call {
  path?: Record<string, string>;
  query?: object;
  body?: object;
  header?: Record<string, string | undefined>;
  stream?: boolean;
  text?: boolean | undefined;
}

// Declared beside the class: its parts are made from the table of their verbs.
export interface Space extends Parts {}

/** A space of a server. Every verb throws a MuistiError when it fails. */
export class Space {
  /** The name of the space. */
  readonly name: string;
  readonly #api: Client<paths>;
  readonly #sending: Sending;

  /** @internal */
  constructor(api: Client<paths>, name: string, sending: Sending) {
    this.#api = api;
    this.name = name;
    this.#sending = sending;
    addParts(this, async (method, path, asked, creates) => {
      const route = `${SPACE}${path}` as keyof paths;
      return creates ? this.#add(route, asked, method as Method) : this.#read(method as Method, route, asked);
    });
  }

  /** Store a memory. Throws Conflict when a current memory says the same or the contrary, unless `on_conflict` says otherwise. */
  async remember(content: string, options: RememberOptions = {}): Promise<Stored> {
    const { idempotency_key, signal, timeout, ...body } = options;
    return this.#add(`${SPACE}/memories`, { body: { ...body, content }, header: once(idempotency_key), signal, timeout });
  }

  /** Store 1 to 1,000 memories: each for itself or, with `atomic`, all or none. Returns what became of each. */
  async rememberMany(memories: readonly (Draft | string)[], options: RememberManyOptions = {}): Promise<Outcome[]> {
    const { atomic = false, idempotency_key, signal, timeout, ...rest } = options;
    const body = { ...rest, atomic, memories: memories.map((one) => (typeof one === "string" ? { content: one } : one)) };
    const asked = { body, header: once(idempotency_key), signal, timeout };
    const { items } = await this.#add<{ items: (Stored | Outcome)[] }>(`${SPACE}/memories/batch`, asked);
    return items.map((one, index) => ("index" in one ? one : { index, status: "created", memory: one }));
  }

  /** Find what an agent may use. The list is empty when there is no evidence for anything about the query. */
  async recall(query: string, options: RecallOptions = {}): Promise<Memory[]> {
    const { hits } = await this.search(query, { limit: 5, min_evidence: "weak", ...options });
    return hits.map((hit) => hit.memory);
  }

  /** Find memories, the best first, with scores and the evidence that they are about the query. A search by `similar_to`, or in the mode `recent`, needs no query. */
  search(query: string, options?: SearchOptions): Promise<Found>;
  search(options: SearchOptions): Promise<Found>;
  async search(first: string | SearchOptions, second: SearchOptions = {}): Promise<Found> {
    const [query, options] = typeof first === "string" ? [first, second] : ["", first];
    const { filter, rest } = split(options);
    const { signal, timeout, ...body } = rest;
    return this.#read<Found>("post", `${SPACE}/search`, { body: { ...body, filter, query }, signal, timeout }).catch(nothingFound);
  }

  /** Make the text for a prompt, with citations, within `token_budget` tokens. */
  async context(query: string, options: ContextOptions = {}): Promise<Context> {
    const { filter, rest } = split(options);
    const { signal, timeout, ...body } = rest;
    return this.#read<Context>("post", `${SPACE}/context`, { body: { ...body, filter, query }, signal, timeout }).catch((error: unknown) => emptyContext(error, body));
  }

  /** Read a memory. Throws NotFound. */
  async get(name: Name, options: GetOptions = {}): Promise<Memory> {
    const { signal, timeout, ...query } = options;
    const { route, path } = place(name);
    return this.#read("get", route, { path, query, signal, timeout });
  }

  /** Iterate over memories, the newest first; pages are fetched as they are needed. `limit` bounds the whole. */
  async *list(options: ListOptions = {}): AsyncGenerator<Memory, void, undefined> {
    const { filter, rest } = split(options);
    const { signal, timeout, limit = Number.POSITIVE_INFINITY, ...asked } = rest;
    let left = limit;
    for (let cursor: string | null | undefined; left > 0 && cursor !== null; ) {
      const query = { ...asked, filter: json(filter), limit: Math.min(left, PAGE), cursor };
      const page = await this.#read<{ items: Memory[]; next_cursor: string | null }>("get", `${SPACE}/memories`, { query, signal, timeout }).catch((error: unknown) => {
        if (isMissing(error)) return { items: [], next_cursor: null };
        throw error;
      });
      yield* page.items;
      left -= page.items.length;
      cursor = page.next_cursor;
    }
  }

  /** Change fields of a memory; null clears one. Throws Conflict when the memory no longer has the `version`. */
  async update(name: Name, options: UpdateOptions): Promise<Written> {
    const { idempotency_key, version, signal, timeout, ...body } = options;
    const { route, path } = place(name);
    const header = await this.#conditions(name, version, idempotency_key, { signal, timeout });
    return this.#read("patch", route, { path, header, body, signal, timeout });
  }

  /** Put a new memory in place of one that no longer holds. */
  async supersede(name: Name, content: string, options: SupersedeOptions = {}): Promise<Written> {
    const { idempotency_key, version, signal, timeout, ...rest } = options;
    const { route, path } = place(name);
    const header = await this.#conditions(name, version, idempotency_key, { signal, timeout });
    return this.#read("post", `${route}/supersede`, { path, header, body: { ...rest, content }, signal, timeout });
  }

  /** Delete a memory; its history stays, and `undo` brings it back. With `purge` it is erased, and the report returned. */
  forget(name: Name, options: Call & { purge: true }): Promise<Erased>;
  forget(name: Name, options?: ForgetOptions & { purge?: false }): Promise<void>;
  async forget(name: Name, options: ForgetOptions & { purge?: boolean } = {}): Promise<Erased | void> {
    const { idempotency_key, version, signal, timeout, purge } = options;
    const { route, path } = place(name);
    const header = await this.#conditions(name, version, idempotency_key, { signal, timeout });
    return this.#read("delete", route, { path, header, query: { purge }, signal, timeout });
  }

  /** Return all versions of a memory, the newest first, also of a deleted one. */
  async history(name: Name, options: Call = {}): Promise<Version[]> {
    const { route, path } = place(name);
    const found: Version[] = [];
    let cursor: string | undefined;
    do {
      const query = { cursor };
      const page = await this.#read<{ items: Version[]; next_cursor: string | null }>("get", `${route}/history`, { path, query, ...options });
      found.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  /** Take back the caller's last request as a whole, its `last` changes, those of memories of an `author`, or those of a `request`. All or none. */
  async undo(options: UndoOptions = {}): Promise<Undone> {
    const { idempotency_key, signal, timeout, ...body } = options;
    return this.#read("post", `${SPACE}/undo`, { body, header: once(idempotency_key), signal, timeout });
  }

  /** Iterate over the changes of the space, the oldest first; with `follow` also over those that are still to come. */
  changes(options: ChangesOptions = {}): AsyncGenerator<Change, void, undefined> {
    const { filter, rest } = split(options);
    const { signal, timeout, follow = false, limit, since, change, ...asked } = rest;
    const route = `${SPACE}/changes` as const;
    const query = { ...asked, change: change && [change].flat().join(), filter: json(filter) };
    const source = {
      page: (from: string | undefined, size: number) =>
        this.#read<Page>("get", route, { query: { ...query, since: from, limit: size }, signal, timeout }),
      stream: async (from: string | undefined, stop: AbortSignal) => {
        const header = { Accept: "text/event-stream" };
        const { data, response } = await this.#ask("get", route, { query: { ...query, since: from }, header, stream: true, signal: stop, timeout });
        return { body: data as ReadableStream<Uint8Array>, point: response.headers.get("Muisti-Seq") ?? undefined };
      },
    };
    return changes(source, { since, limit, follow, signal, pause: this.#sending.pause });
  }

  /** The headers of a change. Of an address that a version is given for, the id is looked up. */
  async #conditions(name: Name, version: number | undefined, key: string | undefined, call: Call): Promise<Record<string, string>> {
    if (version === undefined) return once(key);
    const id = place(name).route === ENTRY ? (await this.get(name, { ...call, no_touch: true })).id : name;
    return { ...once(key), "If-Match": `"${id}.${version}"` };
  }

  /** Add memories. A missing space is made first, if the key allows that. */
  async #add<Data>(route: keyof paths, asked: Asked, method: Method = "post"): Promise<Data> {
    try {
      return await this.#read(method, route, asked);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      await this.#read("post", "/v1/spaces", { body: { name: this.name }, signal: asked.signal, timeout: asked.timeout }).catch((other: unknown) => {
        if (other instanceof MuistiError && other.code === "already_exists") return; // another writer has just made it
        throw other instanceof Forbidden ? error : other;
      });
    }
    return this.#read(method, route, asked);
  }

  async #read<Data>(method: Method, route: keyof paths, asked: Asked): Promise<Data> {
    return (await this.#ask(method, route, asked)).data as Data;
  }

  /** Send a request. Throws a MuistiError when it is refused, or when the answer is no JSON. */
  async #ask(method: Method, route: keyof paths, { path, query = {}, header, body, stream, text, signal, timeout }: Asked) {
    const init = {
      params: { path: { space: this.name, ...path }, query: given(query), header },
      parseAs: stream ? "stream" : text ? "text" : "json",
      ...given({ body, signal }),
      ...(timeout === undefined ? {} : { fetch: sender({ ...this.#sending, timeout }) }),
    };
    // The verbs fit their routes, which the scenarios of tests/clients try; the types of 12 routes in one call would not.
    const request = this.#api.request as (method: string, route: string, init: object) => Promise<Answer>;
    const { data, error, response } = await request(method, route, init).catch((cause: unknown) => {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new MuistiError(0, { detail: "the answer is no JSON; is it a Muisti server?" }, { cause });
    });
    if (!response.ok) throw refusal(response, error);
    return { data, response };
  }
}

type Method = "get" | "post" | "put" | "patch" | "delete";
type Answer = { data?: unknown; error?: unknown; response: Response };

/** The route to a memory, and the parts of its path. An address in one word is split at its first slash. */
function place(name: Name): { route: typeof MEMORY | typeof ENTRY; path: Record<string, string> } {
  if (typeof name !== "string") return { route: ENTRY, path: { category: name.category, key: name.key } };
  const slash = name.indexOf("/");
  if (slash < 0) return { route: MEMORY, path: { memory_id: name } };
  return { route: ENTRY, path: { category: name.slice(0, slash), key: name.slice(slash + 1) } };
}

function once(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { [KEY]: key };
}

function json(filter: Filter | undefined): string | undefined {
  return filter && JSON.stringify(filter);
}

/** What is not undefined. */
function given(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
