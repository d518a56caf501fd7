// Writes what is made from the OpenAPI document, and brings the licence: `npm run generate`.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const METHODS = ["get", "put", "post", "patch", "delete"];
const document = JSON.parse(readFileSync("../../docs/openapi.json", "utf-8"));
const types = await openapiTS(document, { defaultNonNullable: false, emptyObjectsUnknown: true });
writeFileSync("src/schema.ts", `/** Made by generate.js: the types of the API. */\n\n${astToString(types)}`);

const keyed = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.filter((one) => item[one]?.parameters?.some(({ name }) => name === "Idempotency-Key")).map((one) => `${one.toUpperCase()} ${path}`),
);
const set = `new Set(${JSON.stringify(keyed, null, 2)})`;
writeFileSync("src/keyed.ts", `/** Made by generate.js: the operations that take an \`Idempotency-Key\`. */\nexport const KEYED: ReadonlySet<string> = ${set};\n`);

// The handles on the parts of a space, with the names of the Python client: `createConversation` is `conversations.create`.
const SPACE = "/v1/spaces/{space}";
const GROUPS = ["conversations", "sessions", "documents", "graph", "checkpoints", "conflicts", "probes", "tasks", "code", "generations", "webhooks"];
const UNASKED = new Set(["dry_run", "cursor"]);

function groupOf(path, { tags, responses }) {
  const tag = path.startsWith(`${SPACE}/sessions`) ? "sessions" : tags[0];
  return path.startsWith(SPACE) && GROUPS.includes(tag) && !responses["200"]?.content?.["text/event-stream"] ? tag : undefined;
}

/** The name of a verb: that of the operation without the noun of its group, unless another verb has it. */
function verbOf(name, group, taken) {
  const short = name.replaceAll(new RegExp(`(?<=[a-z])(${group.replace(/s$/, "")}s?|space)(?=[A-Z]|$)`, "gi"), "");
  return short in taken ? name : short;
}

/** What is sent: method, path below the space, parameters of the query, and `paged`, `text`, `creates` as they are. */
function verbs() {
  const found = Object.fromEntries(GROUPS.map((group) => [group, {}]));
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const group = item[method] && groupOf(path, item[method]);
      if (group) found[group][verbOf(item[method].operationId, group, found[group])] = described(method, path, item[method]);
    }
  return found;
}

function described(method, path, operation) {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const body = schemaOf(requestBody?.content?.["application/json"]?.schema);
  const named = (where) => parameters.filter((one) => one.in === where).map((one) => one.name);
  const reply = schemaOf(responses["200"]?.content?.["application/json"]?.schema);
  const paged = operationId.startsWith("list") && "next_cursor" in (reply?.properties ?? {});
  const text = Object.keys(responses["200"]?.content ?? {}).some((one) => one.startsWith("text/") || one.startsWith("image/"));
  const creates = /^(create|add|put|state)/.test(operationId) && named("header").includes("Muisti-Allow");
  const query = named("query").filter((one) => !UNASKED.has(one) && !(one in (body?.properties ?? {})));
  const needed = (body?.required ?? []).length > 0 || parameters.some((one) => one.in === "query" && one.required);
  const places = parameters.filter((one) => one.in === "path" && one.name !== "space").map(({ name, schema }) => [name, schema.type === "integer" ? "number" : "string"]);
  return { operationId, summary, places, needed, sent: [method, path.slice(SPACE.length), query, paged ? "paged" : text ? "text" : creates ? "creates" : ""] };
}

function schemaOf(schema) {
  return schema?.$ref ? document.components.schemas[schema.$ref.split("/").pop()] : schema;
}

const about = { ...Object.fromEntries(document.tags.map((one) => [one.name, one.description])), sessions: "Sessions, which hold conversations." };
const made = verbs();
const table = Object.fromEntries(Object.entries(made).map(([group, all]) => [group, Object.fromEntries(Object.entries(all).map(([verb, one]) => [verb, one.sent]))]));
const title = (group) => group[0].toUpperCase() + group.slice(1);
const declared = Object.entries(made).map(([group, all]) => {
  const lines = Object.entries(all).map(([verb, { operationId, summary, places, needed, sent }]) => {
    const before = places.map(([one, kind]) => `${one.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase())}: ${kind}, `).join("");
    const answer = sent[3] === "paged" ? `Paged<"${operationId}">` : `Promise<Answer<"${operationId}">>`;
    return `  /** ${summary}. */\n  ${verb}(${before}options${needed ? "" : "?"}: Asking<"${operationId}">): ${answer};`;
  });
  return `/** ${about[group]} */\nexport interface ${title(group)} {\n${lines.join("\n")}\n}\n`;
});
const groups = GROUPS.map((group) => `  /** ${about[group]} */\n  readonly ${group}: ${title(group)};`).join("\n");
writeFileSync(
  "src/verbs.ts",
  `/** Made by generate.js: the handles on the parts of a space, and what their verbs send. */

import type { Answer, Asking, Paged, Sent } from "./parts.js";

${declared.join("\n")}
/** The parts of a space, each with its verbs. */
export interface Parts {
${groups}
}

export const VERBS: Record<keyof Parts, Record<string, Sent>> = ${JSON.stringify(table)};
`,
);
copyFileSync("../../LICENSE", "LICENSE");
