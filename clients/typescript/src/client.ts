/** The client: the whole API by its paths, and handles on spaces. */

import createClient, { type Client, type Middleware } from "openapi-fetch";
import { unusable } from "./errors.js";
import { KEYED } from "./keyed.js";
import type { paths } from "./schema.js";
import { KEY, type Sending, sender } from "./sending.js";
import { Space } from "./space.js";

const BATCH = "/v1/spaces/{space}/memories/batch";

/** Where the server is, and how requests are sent. */
export interface Options extends Sending {
  /** The server's address: by default `MUISTI_URL` of the environment, or else this machine's server. */
  url?: string | undefined;
  /** A key, when the server asks for one: by default `MUISTI_KEY` of the environment. */
  key?: string | null | undefined;
}

/** A connection to a server. */
export class Muisti {
  /** Every operation of the API, by its path: `api.GET("/v1/spaces")`. It answers `{data, error, response}`. */
  readonly api: Client<paths>;
  readonly #options: Options;

  constructor(options: Options = {}) {
    const url = options.url ?? environment("MUISTI_URL") ?? "http://127.0.0.1:8321";
    const key = options.key === undefined ? environment("MUISTI_KEY") : options.key;
    this.#options = options;
    this.api = createClient<paths>({
      baseUrl: url.replace(/\/+$/, "").replace(/\/v1$/, ""),
      headers: key ? { Authorization: `Bearer ${key}` } : {},
      fetch: sender(options),
      pathSerializer: filled,
    });
    this.api.use(once);
  }

  /** A handle on a space. It sends nothing. A space that is missing is made by the first memory that is stored in it, if the key allows that. */
  space(name = "default"): Space {
    return new Space(this.api, name, this.#options);
  }
}

/** Connect to a server. Nothing is sent yet. */
export function muisti(options: Options = {}): Muisti {
  return new Muisti(options);
}

/** Gives each change an idempotency key, so that it can be sent again. */
const once: Middleware = {
  async onRequest({ request, schemaPath }) {
    if (!KEYED.has(`${request.method} ${schemaPath}`) || request.headers.has(KEY)) return;
    const asked = new URL(request.url).searchParams;
    if (asked.get("purge") === "true") return; // erasing twice is harmless, and takes no key
    if (schemaPath === BATCH && (asked.get("atomic") === "false" || (await inParts(request)))) return;
    request.headers.set(KEY, crypto.randomUUID());
  },
};

/** Whether each memory of a batch stands for itself: such a batch is several changes and takes no key. */
async function inParts(request: Request): Promise<boolean> {
  if (!request.headers.get("Content-Type")?.startsWith("application/json")) return false;
  return ((await request.clone().json()) as { atomic?: boolean }).atomic === false;
}

/** Fill in a path. A part that is empty or a step up would lead to another path, so it is refused. */
function filled(path: string, parts: Record<string, unknown>): string {
  return path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const part = String(parts[name] ?? "");
    if (/^\.{0,2}$/.test(part)) throw unusable(`${name}: ${JSON.stringify(part)} cannot be part of a path`);
    return encodeURIComponent(part);
  });
}

/** A variable of the environment, where there is one: browsers and some edge runtimes have none. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno throws when it was not allowed to read the variable
  }
}
