/** The SDK of Muisti: `muisti()` connects, `.space()` is a handle with the verbs of a memory, `.api` has every operation. */

export { Muisti, type Options, muisti } from "./client.js";
export { Busy, Conflict, Forbidden, Invalid, MuistiError, NotFound, type Problem, StaleVersion, TooLong, Unauthorized, Unavailable, Unreachable } from "./errors.js";
export { Space } from "./space.js";
export type { components, operations, paths } from "./schema.js";
export type { Filter, Filters, Time, Word } from "./filters.js";
export type * from "./types.js";
export type * from "./verbs.js";
