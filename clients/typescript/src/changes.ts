/** The changes of a space, by pages and as a stream. */

import { Unreachable, ended } from "./errors.js";
import { type Event, events } from "./events.js";
import { backoff, rest } from "./sending.js";
import type { Change } from "./types.js";

const PAGE = 1000;
/** How often in a row a stream is opened anew before its reader is told. */
const RECONNECTS = 10;

/** A page of changes, as the server answers it. */
export interface Page {
  items: Omit<Change, "point">[];
  next_cursor: string | null;
  seq: string;
}

interface Source {
  page(since: string | undefined, size: number): Promise<Page>;
  stream(since: string | undefined, stop: AbortSignal): Promise<{ body: ReadableStream<Uint8Array>; point: string | undefined }>;
}

interface Wanted {
  since: string | undefined;
  limit: number | undefined;
  follow: boolean;
  signal: AbortSignal | undefined;
  pause: number | undefined;
}

/** Yield changes, each once, the oldest first. */
export async function* changes(source: Source, wanted: Wanted): AsyncGenerator<Change, void, undefined> {
  let left = wanted.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const change of wanted.follow ? followed(source, wanted) : past(source, wanted)) {
    yield change;
    if (--left <= 0) return;
  }
}

async function* past(source: Source, { since, limit = PAGE }: Wanted): AsyncGenerator<Change, void, undefined> {
  for (let from: string | null | undefined = since; from !== null; ) {
    const page: Page = await source.page(from, Math.min(limit, PAGE));
    const epoch = page.seq.slice(0, page.seq.lastIndexOf(":"));
    for (const change of page.items) yield { ...change, point: `${epoch}:${change.seq}` };
    from = page.next_cursor;
  }
}

/** Read a stream, and open it anew after the last event when it breaks off. */
async function* followed(source: Source, { since, signal, pause = 200 }: Wanted): AsyncGenerator<Change, void, undefined> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  try {
    for (let from = since, failures = 0; ; ) {
      try {
        const { body, point } = await source.stream(from, stop.signal);
        from ??= point;
        for await (const event of events(body)) {
          failures = 0;
          if (event.id) from = event.id;
          if (event.name === "end") stopping(event);
          else if (event.data) yield { ...(JSON.parse(event.data) as Change), point: event.id };
        }
      } catch (error) {
        stop.signal.throwIfAborted();
        if (!(error instanceof Unreachable) || ++failures >= RECONNECTS) throw error;
      }
      await rest(backoff(pause, failures + 1), stop.signal);
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    stop.abort();
  }
}

/** Throw what ends a stream, unless the server only stops: then another one is asked. */
function stopping(event: Event): void {
  const problem = JSON.parse(event.data) as { code: string; detail?: string };
  if (problem.code !== "stopping") throw ended(problem);
}
