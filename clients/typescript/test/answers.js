// A server that is not there: it gives the answers of a list, in turn, and keeps the requests.

import { muisti } from "../dist/index.js";

/** Each answer is a status, an error, a Response, or a function of the request that gives one of these. */
export function answering(answers, options = {}) {
  const sent = [];
  const fetch = async (request) => {
    sent.push(request);
    let now = answers.shift();
    if (typeof now === "function") now = await now(request);
    if (now instanceof Error) throw now;
    if (now instanceof Response) return now;
    if (now === undefined) throw new Error("no answer is left");
    return Response.json({ code: "busy", detail: "later" }, { status: now, headers: now === 200 ? {} : { "Retry-After": "0" } });
  };
  const client = muisti({ url: "http://here", key: null, fetch, pause: 0, ...options });
  return { client, space: client.space("notes"), sent };
}

/** A stream of events that ends, or breaks off with an error. */
export function streaming(text, error) {
  const body = new ReadableStream({
    start(control) {
      for (const byte of new TextEncoder().encode(text)) control.enqueue(Uint8Array.of(byte));
      if (!error) control.close();
    },
    pull(control) {
      control.error(error);
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Muisti-Seq": "e:4" } });
}

export async function all(items) {
  const found = [];
  for await (const one of items) found.push(one);
  return found;
}
