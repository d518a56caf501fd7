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
copyFileSync("../../LICENSE", "LICENSE");
