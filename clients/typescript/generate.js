// Writes src/keyed.ts, the operations that take an idempotency key, and brings the licence. `npm run generate` runs it.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";

const METHODS = ["get", "put", "post", "patch", "delete"];
const { paths } = JSON.parse(readFileSync("../../docs/openapi.json", "utf-8"));
const keyed = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.filter((one) => item[one]?.parameters?.some(({ name }) => name === "Idempotency-Key")).map((one) => `${one.toUpperCase()} ${path}`),
);
writeFileSync(
  "src/keyed.ts",
  `/** Made by generate.js: the operations that take an \`Idempotency-Key\`. */\nexport const KEYED: ReadonlySet<string> = new Set(${JSON.stringify(keyed, null, 2)});\n`,
);
copyFileSync("../../LICENSE", "LICENSE");
