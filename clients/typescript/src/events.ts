/** Server-sent events, read from the body of an answer. */

import { Unreachable } from "./errors.js";

/** The server sends a comment every 15 s; when nothing comes for this long the connection is dead. */
const SILENCE = 45_000;

export interface Event {
  /** Its id, or that of the comment; empty when it has none. */
  id: string;
  name: string;
  data: string;
}

/** Read events until the stream ends. Throws Unreachable when the connection breaks off or goes silent. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Event, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await heard(reader);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      yield* blocks.map(event);
    }
  } finally {
    reader.cancel().catch(() => undefined); // a broken connection cannot be cancelled, and need not be
  }
}

function event(block: string): Event {
  const found = { id: "", event: "", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name === "data" && found.data) found.data += `\n${value}`;
    else if (name) found[name as keyof typeof found] = value ?? "";
  }
  return { id: found.id, name: found.event, data: found.data };
}

async function heard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error(`nothing came for ${SILENCE} ms`)), SILENCE);
  });
  try {
    return await Promise.race([reader.read(), silent]);
  } catch (cause) {
    throw new Unreachable(0, { code: "unreachable", detail: `the stream broke off: ${String(cause)}` }, { cause });
  } finally {
    clearTimeout(timer);
  }
}
