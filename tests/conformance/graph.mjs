// cytoscape.js reads the exported graph as it was meant: equal counts, attributes, ends. Any surprise ends it with an error.
import assert from "node:assert/strict";
import cytoscape from "cytoscape";

const base = `${process.argv[2]}/v1/spaces/default`;
async function send(method, path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${base}/${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

const nasty = ['Ann "Annie" O\'Hara <&>', "Łódź 東京 🗼", "back\\slash Corp"];
for (let number = 0; number < 300; number++) {
  await send("POST", "memories", { content: `We met ${nasty[number % 3]} in Oslo, then Bob Berg in Turku: visit ${number}` });
}
await send("PATCH", `graph/entities/${encodeURIComponent(nasty[0])}`, { aliases: ["Annie"], kind: "person" });
await send("POST", "graph/relations", { subject: nasty[0], kind: "works_at", object: nasty[2] });
await send("POST", "graph/relations", { subject: nasty[0], kind: "likes", literal: 'dark "roast"', negative: true });
await send("POST", "graph/relations", { subject: nasty[1], kind: "likes", literal: 'dark "roast"' });

const plain = await send("GET", "graph/export?format=json");
const graph = cytoscape({ headless: true, ...(await send("GET", "graph/export?format=cytoscape")) });
const words = new Set(plain.edges.map((edge) => edge.literal).filter((literal) => literal !== undefined));
assert.equal(words.size, 1);
assert.equal(graph.nodes().length, plain.nodes.length + words.size);
assert.equal(graph.edges().length, plain.edges.length);
for (const node of plain.nodes) {
  const { id, ...attributes } = node;
  const { id: same, ...read } = graph.getElementById(id).data();
  assert.deepEqual(read, attributes);
  assert.equal(same, id);
}
const sorted = (edges) => edges.map((edge) => JSON.stringify(edge)).sort();
const told = ({ kind, source, target, memory, weight, negative }) => ({ kind, source, target, memory, weight, negative });
const text = graph.nodes('[kind = "text"]');
assert.deepEqual(text.map((node) => node.data("name")), [...words]);
assert.deepEqual(
  sorted(graph.edges().map((edge) => told(edge.data()))),
  sorted(plain.edges.map((edge) => told({ ...edge, target: edge.target ?? text.id() }))),
);
const ann = graph.nodes('[kind = "person"]').filter((node) => node.data("name") === nasty[0]);
assert.deepEqual(ann.data("aliases"), ["Annie"]);
assert.equal(graph.elements().aStar({ root: ann, goal: text }).distance, 1);
console.log(`cytoscape.js ${cytoscape.version}: ${graph.nodes().length} nodes and ${graph.edges().length} edges, ok`);
