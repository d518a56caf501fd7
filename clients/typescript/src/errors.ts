/** Errors as classes, by what they mean for the caller. `code` is stable, the message is prose. */

import type { components } from "./schema.js";

/** A problem (RFC 9457) as the server answers it. */
export type Problem = components["schemas"]["Problem"];

/** A request that failed. Its subclasses say how; `code` says exactly what. */
export class MuistiError extends Error {
  /** The stable code of the error, such as `duplicate`. */
  readonly code: string;
  /** The status of the answer; 0 when none came. */
  readonly status: number;
  /** The whole problem that the server answered. */
  readonly problem: Partial<Problem>;

  constructor(status: number, problem: Partial<Problem>, options?: ErrorOptions) {
    super(problem.detail || problem.title || `the server answered ${status}`, options);
    this.name = new.target.name;
    this.status = status;
    this.problem = problem;
    this.code = problem.code ?? "";
  }

  /** The bad fields, each with `path` and `message`. */
  get errors(): NonNullable<Problem["errors"]> {
    return this.problem.errors ?? [];
  }

  /** The memories in the way of the request, the most similar first. */
  get conflicts(): NonNullable<Problem["conflicts"]> {
    return this.problem.conflicts ?? [];
  }
}

/** The space, the memory or the point of history does not exist, or the key does not see it. */
export class NotFound extends MuistiError {}
/** Stored data does not allow the request: a duplicate, a contradiction, a taken address, a changed memory. */
export class Conflict extends MuistiError {}
/** The memory has changed since the version that the change was meant for. */
export class StaleVersion extends Conflict {}
/** A field, a parameter or the request itself cannot be accepted. */
export class Invalid extends MuistiError {}
/** The server asks for a key, or does not accept the one that it got. */
export class Unauthorized extends MuistiError {}
/** The key does not allow the request, or the quota of the space does not. */
export class Forbidden extends MuistiError {}
/** The request is larger than the server takes. */
export class TooLong extends MuistiError {}
/** The server or its database cannot do it now. Later it may succeed. */
export class Unavailable extends MuistiError {}
/** Too many requests run or wait; nothing was done. */
export class Busy extends Unavailable {}
/** No answer came. A change may have been made nevertheless. */
export class Unreachable extends MuistiError {}

const BY_STATUS: Record<number, typeof MuistiError> = {
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: NotFound,
  412: StaleVersion,
  413: TooLong,
  429: Busy,
};

/** Statuses of errors that end a stream of changes. */
const BY_CODE: Record<string, number> = { unauthorized: 401, not_found: 404, epoch_gone: 410, past_retention: 410 };

/** The error for an answer that is no success. `body` is what was read of it. */
export function refusal(response: Response, body: unknown): MuistiError {
  const { status, url } = response;
  if (typeof body === "object" && body !== null && "code" in body) return made(status, body as Problem);
  const host = url ? new URL(url).host : "the server";
  return made(status, { status, detail: `${host} answered ${status} without saying why; is it a Muisti server?` });
}

/** The error for the last event of a stream. */
export function ended(problem: Partial<Problem>): MuistiError {
  return made(BY_CODE[problem.code ?? ""] ?? 503, problem);
}

/** The error for an argument that is refused before anything is sent. */
export function unusable(detail: string): Invalid {
  return new Invalid(0, { code: "invalid_input", title: "Invalid input", detail });
}

function made(status: number, problem: Partial<Problem>): MuistiError {
  if (problem.code === "busy") return new Busy(status, problem);
  return new (BY_STATUS[status] ?? (status >= 500 ? Unavailable : Invalid))(status, problem);
}
