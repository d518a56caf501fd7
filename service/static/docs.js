"use strict";
// Draws /openapi.json. Text only ever becomes text nodes, so nothing in the document or in an answer can run.

const METHODS = ["get", "post", "put", "patch", "delete"];

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// The text with what stands between backticks as code.
function prose(text) {
  return String(text || "").split("`").map((part, place) => (place % 2 ? el("code", {}, part) : part));
}

function resolved(api, thing) {
  if (!thing || !thing.$ref) return thing || {};
  return thing.$ref.slice(2).split("/").reduce((place, name) => place[name], api);
}

const nameOf = (ref) => ref.split("/").pop();

function typeOf(schema) {
  if (!schema || !Object.keys(schema).length) return "any";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  return schema.format ? `${schema.type} (${schema.format})` : String(schema.type || "any");
}

function aboutField(schema) {
  const parts = [schema, ...(schema.anyOf || [])];
  const words = parts.map((part) => part.description).filter(Boolean);
  for (const part of parts) {
    const limits = ["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern"];
    words.push(...limits.filter((name) => name in part).map((name) => `${name} ${part[name]}`));
  }
  if ("default" in schema) words.push(`default ${JSON.stringify(schema.default)}`);
  return words.join(" · ");
}

function fieldTable(rows) {
  // The roles stay where a narrow page shows rows as blocks.
  const head = el("tr", { role: "row" }, ...["name", "type", "meaning"].map((name) => el("th", { role: "columnheader" }, name)));
  const cell = (...inner) => el("td", { role: "cell" }, ...inner);
  const cells = rows.map(([name, type, text]) =>
    el("tr", { role: "row" }, cell(el("code", {}, name)), cell(el("code", {}, type)), cell(...prose(text))));
  return el("div", { class: "wide" },
    el("table", { role: "table" }, el("thead", { role: "rowgroup" }, head), el("tbody", { role: "rowgroup" }, ...cells)));
}

function schemaView(api, schema, seen = new Set()) {
  const box = el("div", {});
  const names = [...JSON.stringify(schema || {}).matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]);
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const found = api.components.schemas[name];
    const required = new Set(found.required || []);
    const rows = Object.entries(found.properties || {}).map(([field, inner]) =>
      [required.has(field) ? `${field} *` : field, typeOf(inner), aboutField(inner)]);
    box.append(el("h3", {}, name), el("p", { class: "dim" }, ...prose(found.description)), fieldTable(rows));
    box.append(schemaView(api, found.properties, seen));
  }
  return box;
}

function exampleView(title, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return el("div", {}, el("h3", {}, title), el("pre", { tabindex: "0", "aria-label": title }, text));
}

function responseView(api, status, response) {
  const content = Object.entries(response.content || {})[0];
  const box = el("div", {});
  const headers = Object.keys(response.headers || {});
  if (headers.length) box.append(el("p", { class: "dim" }, `Headers: ${headers.join(", ")}`));
  if (content) {
    box.append(schemaView(api, content[1].schema));
    if ("example" in content[1]) box.append(exampleView("Example", content[1].example));
    for (const [code, example] of Object.entries(content[1].examples || {})) {
      box.append(exampleView(code, resolved(api, example).value));
    }
  }
  return el("details", {}, el("summary", {}, el("code", {}, status), el("span", { class: "dim" }, ...prose(response.description))), box);
}

// The first media type of a request's body, and what is known of it.
function bodyOf(operation) {
  const content = (operation.requestBody || { content: {} }).content;
  return Object.entries(content).find(([type]) => type === "application/json") || Object.entries(content)[0] || [];
}

function tryView(path, method, operation) {
  const form = el("form", {});
  const inputs = [];
  for (const parameter of operation.parameters || []) {
    if (parameter.name === "filters") continue;
    const initial = parameter.name === "space" ? "default" : "";
    const input = el("input", { name: parameter.name, value: initial, required: parameter.required, autocomplete: "off" });
    inputs.push([parameter, input]);
    form.append(el("label", {}, el("span", {}, `${parameter.name} (${parameter.in})`), input));
  }
  const [type, media] = bodyOf(operation);
  const body = media ? el("textarea", { rows: 12, spellcheck: "false", "aria-label": "Body" }) : null;
  if (body) {
    body.value = typeof media.example === "string" ? media.example : JSON.stringify(media.example || {}, null, 2);
    form.append(body);
  }
  const output = el("pre", { hidden: true, tabindex: "0", "aria-live": "polite", "aria-label": "Answer" });
  form.append(el("button", { type: "submit" }, `Send ${method.toUpperCase()}`), output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.hidden = false;
    output.textContent = "…";
    output.textContent = await send(path, method, inputs, body, type);
  });
  return form;
}

async function send(path, method, inputs, body, type) {
  const query = new URLSearchParams();
  let target = path;
  try {
    const headers = new Headers(body ? { "Content-Type": type } : {});
    const key = document.getElementById("key").value.trim(); // in this field alone: it is gone with the page
    if (key) headers.set("Authorization", `Bearer ${key}`);
    for (const [parameter, input] of inputs) {
      const value = input.value.trim();
      if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(value));
      else if (value && parameter.in === "query") query.append(parameter.name, value);
      else if (value) headers.set(parameter.name, value);
    }
    if (query.size) target += `?${query}`;
    const response = await fetch(target, { method: method.toUpperCase(), headers, body: body ? body.value : undefined });
    const text = await response.text();
    const kind = response.headers.get("Content-Type") || "";
    const shown = kind.includes("json") && text ? JSON.stringify(JSON.parse(text), null, 2) : text;
    const told = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    return `${response.status} ${method.toUpperCase()} ${target}\n${told}\n\n${shown}`;
  } catch (error) {
    return `No answer: ${error.message}`;
  }
}

function operationView(api, path, method, operation) {
  const inside = el("div", {});
  const block = el("details", { id: operation.operationId },
    el("summary", {}, el("span", { class: `method ${method}` }, method), el("code", {}, path),
      el("span", { class: "dim" }, ...prose(operation.summary))), inside);
  block.addEventListener("toggle", () => {
    if (!block.open || inside.childNodes.length) return;
    if (operation.description) inside.append(el("p", {}, ...prose(operation.description)));
    inside.append(el("h3", {}, "Try it"), tryView(path, method, operation));
    const parameters = operation.parameters || [];
    if (parameters.length) {
      inside.append(el("h3", {}, "Parameters"), fieldTable(parameters.map((one) =>
        [one.required ? `${one.name} *` : one.name, `${one.in}: ${typeOf(one.schema)}`,
          [one.description, aboutField({ ...one.schema, description: undefined })].filter(Boolean).join(" · ")])));
    }
    if (operation.requestBody) {
      const content = operation.requestBody.content;
      inside.append(el("h3", {}, `Body: ${Object.keys(content).join(" or ")}`));
      inside.append(schemaView(api, bodyOf(operation)[1].schema));
    }
    inside.append(el("h3", {}, "Answers"));
    for (const [status, response] of Object.entries(operation.responses)) {
      inside.append(responseView(api, status, resolved(api, response)));
    }
  });
  return block;
}

function draw(api) {
  document.getElementById("about").append(...prose(api.info.description));
  const main = document.getElementById("api");
  const blocks = [];
  for (const tag of api.tags) {
    const section = el("section", {}, el("h2", {}, tag.name), el("p", { class: "dim" }, ...prose(tag.description)));
    for (const [path, item] of Object.entries(api.paths)) {
      for (const method of METHODS) {
        const operation = item[method];
        if (!operation || !operation.tags.includes(tag.name)) continue;
        const block = operationView(api, path, method, operation);
        blocks.push([block, section, `${method} ${path} ${JSON.stringify(operation)}`.toLowerCase()]);
        section.append(block);
      }
    }
    main.append(section);
  }
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const [block, , text] of blocks) block.hidden = !text.includes(wanted);
    for (const section of main.children) section.hidden = !section.querySelector("details[id]:not([hidden])");
  });
  const named = location.hash && document.getElementById(location.hash.slice(1));
  if (named) {
    named.open = true;
    named.scrollIntoView();
  }
}

fetch("/openapi.json")
  .then((response) => response.json())
  .then(draw)
  .catch((error) => document.getElementById("api").append(el("p", {}, `The API cannot be drawn: ${error.message}`)));
