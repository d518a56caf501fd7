/** Sends a request: within a time limit, and again where that is safe. */

import { Unreachable } from "./errors.js";

export type Fetch = (request: Request) => Promise<Response>;

export interface Sending {
  /** The function that sends, instead of the global fetch. */
  fetch?: Fetch | undefined;
  /** How often a request is sent at most; 4 by default. */
  attempts?: number | undefined;
  /** Milliseconds before the second attempt, 200 by default; doubled for each that follows. */
  pause?: number | undefined;
  /** Milliseconds that an attempt may take, 30,000 by default. Of a stream or a file, until it begins. */
  timeout?: number | undefined;
}

export const KEY = "Idempotency-Key";
const PAUSE_MAX = 10_000;
const SAFE = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const LATER = new Set([429, 502, 503, 504]);
const EMPTY = new Set([101, 204, 205, 304]);

/** Make the fetch of a client. It throws Unreachable when no answer came, and the reason of the request's signal when that aborts. */
export function sender({ fetch, attempts = 4, pause = 200, timeout = 30_000 }: Sending): Fetch {
  return async (request) => {
    const repeatable = SAFE.has(request.method) || request.headers.has(KEY);
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      const answer = await once(last ? request : request.clone(), fetch ?? globalThis.fetch, timeout);
      if (answer instanceof Unreachable) {
        if (last || !repeatable) throw answer;
        await rest(backoff(pause, attempt), request.signal);
        continue;
      }
      // A request that was turned away with 429 was not begun, whatever it was.
      if (last || !(answer.status === 429 || (LATER.has(answer.status) && repeatable))) return answer;
      await answer.body?.cancel();
      const asked = Number(answer.headers.get("Retry-After") ?? Number.NaN) * 1000;
      await rest(Number.isNaN(asked) ? backoff(pause, attempt) : Math.min(asked, PAUSE_MAX), request.signal);
    }
  };
}

/** Milliseconds to wait after an attempt: longer each time, and never the same for two clients. */
export function backoff(pause: number, attempt: number): number {
  return Math.min(pause * 2 ** (attempt - 1), PAUSE_MAX) * (0.5 + Math.random() / 2);
}

/** Wait. Throws the reason of the signal when it aborts. */
export function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    signal.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      failed(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      done();
    }, milliseconds);
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** Send once. JSON is read here, so that the time limit and the next attempt cover an answer that breaks off. */
async function once(request: Request, fetch: Fetch, timeout: number): Promise<Response | Unreachable> {
  const limit = new AbortController();
  const abort = () => limit.abort(request.signal.reason);
  if (request.signal.aborted) abort();
  request.signal.addEventListener("abort", abort);
  const late = new Error(`no answer within ${timeout} ms`);
  const timer = setTimeout(() => limit.abort(late), timeout);
  let held = false;
  try {
    const answer = await fetch(new Request(request, { signal: limit.signal }));
    const json = /^application\/(problem\+)?json/.test(answer.headers.get("Content-Type") ?? "");
    held = !json && answer.body !== null; // the caller reads it, and may still abort it
    if (!json || EMPTY.has(answer.status)) return answer;
    const { status, statusText, headers } = answer;
    return new Response(await answer.arrayBuffer(), { status, statusText, headers });
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    const timed = limit.signal.aborted;
    const why = timed ? late.message : error instanceof Error ? error.message : String(error);
    const detail = `${new URL(request.url).host} could not be reached: ${why}`;
    return new Unreachable(0, { code: timed ? "timeout" : "unreachable", title: "Unreachable", detail }, { cause: error });
  } finally {
    clearTimeout(timer);
    if (!held) request.signal.removeEventListener("abort", abort);
  }
}
