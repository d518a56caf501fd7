// Runs the page /docs of a server in a small document: node docs_page.mjs URL, with steps as JSON on standard input.
// A step is [operation, key]; for each, what the page shows after "Send" is printed, then where the key is left.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const base = process.argv[2];

const byId = new Map(); // a walk over the document for each operation would take most of the time

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, childNodes: [], listeners: {}, hidden: false, open: false, value: "" });
  }
  get children() { return this.childNodes.filter((child) => child instanceof Element); }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name === "id") byId.set(String(value), this);
    if (name === "value") this.value = String(value);
    if (name === "hidden") this.hidden = true;
  }
  append(...nodes) { this.childNodes.push(...nodes); }
  addEventListener(name, call) { (this.listeners[name] ||= []).push(call); }
  async emit(name) {
    for (const call of this.listeners[name] || []) await call({ preventDefault() {}, target: this });
  }
  get textContent() { return this.childNodes.map((child) => (child instanceof Element ? child.textContent : String(child))).join(""); }
  set textContent(text) { this.childNodes = [text]; }
  find(wanted) {
    for (const child of this.childNodes) {
      if (!(child instanceof Element)) continue;
      const found = wanted(child) ? child : child.find(wanted);
      if (found) return found;
    }
    return null;
  }
  scrollIntoView() {}
}

const page = await (await fetch(`${base}/docs`)).text();
const root = new Element("html");
for (const match of page.matchAll(/<(\w+)[^>]*\bid="(\w+)"[^>]*>/g)) {
  const element = new Element(match[1]);
  for (const [, name, value] of match[0].matchAll(/([\w-]+)="([^"]*)"/g)) element.setAttribute(name, value);
  root.append(element);
}
const stored = [];
const refuse = (name) => new Proxy({}, { get: () => { stored.push(name); return () => null; } });
const document = {
  createElement: (tag) => new Element(tag),
  getElementById: (id) => byId.get(id) ?? null,
  get cookie() { stored.push("cookie"); return ""; },
  set cookie(_) { stored.push("cookie"); },
};
let drawn;
const ready = new Promise((resolve) => { drawn = resolve; });
const fetched = async (target, options) => fetch(new URL(target, base), options);
vm.runInNewContext(await (await fetch(`${base}/docs/docs.js`)).text(), {
  document, location: { hash: "" }, Headers, URLSearchParams, JSON, Object, Set, String,
  localStorage: refuse("localStorage"), sessionStorage: refuse("sessionStorage"), indexedDB: refuse("indexedDB"),
  fetch: (target, options) => {
    const answer = fetched(target, options);
    if (target === "/openapi.json") answer.then(() => setTimeout(drawn, 200));
    return answer;
  },
});
await ready;

const prose = (element) => element.childNodes.map((child) =>
  child instanceof Element ? (child.tag === "pre" ? "" : prose(child)) : String(child)).join(" ");

const shown = [];
for (const [operation, key] of JSON.parse(readFileSync(0, "utf-8"))) {
  document.getElementById("key").value = key;
  const block = document.getElementById(operation);
  block.open = true;
  await block.emit("toggle");
  const form = block.find((element) => element.tag === "form");
  await form.emit("submit");
  shown.push({ operation, answer: form.find((element) => element.tag === "pre").textContent, prose: prose(block) });
}
const blocks = document.getElementById("api").children.flatMap((section) => section.children);
console.log(JSON.stringify({
  shown,
  stored,
  key: document.getElementById("key").attributes,
  about: document.getElementById("about").textContent,
  operations: blocks.filter((one) => one.tag === "details").map((one) => one.attributes.id),
}));
