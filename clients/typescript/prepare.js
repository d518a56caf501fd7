// Builds the package where `npm install ./clients/typescript` links this folder, unless `dist` is newer than its sources.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(dirname(fileURLToPath(import.meta.url)));

const BUILT = "dist/index.js";
const GENERATED = ["keyed.ts", "schema.ts", "verbs.ts"];
const sources = ["package.json", "generate.js", "../../docs/openapi.json", ...readdirSync("src").filter((name) => !GENERATED.includes(name)).map((name) => `src/${name}`)];
const isCurrent = existsSync(BUILT) && sources.every((name) => statSync(name).mtimeMs <= statSync(BUILT).mtimeMs);
if (!isCurrent || !existsSync("node_modules/openapi-fetch")) {
  if (!existsSync("node_modules/openapi-typescript")) run(process.env.npm_execpath ?? "npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund");
  run("generate.js");
  run("node_modules/typescript/bin/tsc");
}

function run(script, ...options) {
  const environment = { ...process.env, npm_config_global: "false", npm_config_prefix: "", npm_config_local_prefix: process.cwd() };
  const { status } = spawnSync(process.execPath, [script, ...options], { stdio: "inherit", env: environment });
  if (status !== 0) process.exit(status ?? 1);
}
