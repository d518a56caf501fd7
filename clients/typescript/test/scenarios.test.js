// The scenarios of tests/clients on the server that MUISTI_URL names, each on a space of its own. Prints what passed.

import test from "node:test";
import { muisti } from "../dist/index.js";
import { run, scenarios } from "./scenarios.js";

const folder = process.env.MUISTI_SCENARIOS;

test("scenarios", { skip: !folder }, async (t) => {
  const client = muisti();
  const all = scenarios(folder);
  let [passed, steps] = [0, 0];
  for (const [number, scenario] of all.entries()) {
    await t.test(scenario.name, async () => {
      const name = `scenario-${number}`;
      await client.api.POST("/v1/spaces", { body: { name } });
      await run(scenario, client.space(name), () => steps++);
      passed++;
    });
  }
  const wanted = all.reduce((sum, { steps }) => sum + steps.length, 0);
  console.log(`scenarios: ${passed} of ${all.length} passed, ${steps} of ${wanted} steps`);
});
