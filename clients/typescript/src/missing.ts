/** Answers about a space that does not exist yet: its first memory creates it, so that nothing is known is no error. */

import { NotFound } from "./errors.js";
import type { Context, Found } from "./types.js";

/** Whether the space of a request is missing, or hidden from the key, and not something in it. */
export function isMissing(error: unknown): error is NotFound {
  return error instanceof NotFound && error.code === "not_found" && error.message.startsWith("no space ");
}

/** The answer of a search in a missing space, which `degraded` names. Throws other errors again. */
export function nothingFound(error: unknown): Found {
  if (!isMissing(error)) throw error;
  return { hits: [], total: 0, ...nothing(error) } as unknown as Found;
}

/** The context of a missing space, which `degraded` names. Throws other errors again. */
export function emptyContext(error: unknown, asked: object): Context {
  if (!isMissing(error)) throw error;
  const sizes = { token_budget: 2000, encoding: "o200k_base", ...asked };
  const parts = { text: "", tokens: 0, sections: [], citations: [], left_out: [], left_out_total: 0, next_budget: null, spaces: [] };
  return { ...parts, token_budget: sizes.token_budget, encoding: sizes.encoding, ...nothing(error) } as unknown as Context;
}

function nothing(error: NotFound): object {
  const degraded = [`there is ${error.message} yet; its first memory creates it`];
  return { evidence: "none", strength: 0, thresholds: null, strategy: "none", degraded, seq: "0" };
}
