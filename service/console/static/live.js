// Continues the tables of the page Live with what the API streams: changes and reads as they happen.
"use strict";

let paused = false;
const waiting = [];
const RECENT = 20; // rows among which a request that goes on is looked for

/** Make a cell; texts are texts, never HTML. */
function cell(content, className) {
  const td = document.createElement("td");
  td.append(content ?? "");
  if (className) td.className = className;
  return td;
}

function badge(text) {
  const span = document.createElement("span");
  span.className = "badge";
  span.textContent = text;
  return span;
}

function link(url, text) {
  const a = document.createElement("a");
  a.href = url;
  a.textContent = text;
  return a;
}

function when(at) {
  const time = document.createElement("time");
  time.dateTime = at;
  time.title = `${at.slice(0, 19).replace("T", " ")} UTC`;
  time.dataset.ago = "";
  time.textContent = "just now";
  return time;
}

/** Say how many changes of one request a row stands for. */
function count(times) {
  const span = document.createElement("span");
  span.className = "quiet";
  span.dataset.times = times;
  span.textContent = times > 1 ? ` and ${(times - 1).toLocaleString("en")} more` : "";
  return span;
}

const ROWS = {
  changes(body, change, times) {
    const memory = change.after ?? change.before,
      text = (memory?.document ?? memory?.content ?? "").trim().split("\n")[0].slice(0, 160) || (change.memory_id ? "a memory that has ended" : "the space itself"),
      name = document.createElement("th");
    name.scope = "row";
    name.append(change.memory_id ? link(`${body.dataset.space}/memories/${change.memory_id}`, text) : text, count(times));
    return [cell(when(change.at), "when"), cell(badge(change.change), "what"), name, cell(change.actor, "less")];
  },
  reads(body, read) {
    const receipt = read.receipt ? link(`${body.dataset.space}/quality/receipts/${read.receipt}`, "replay") : "";
    return [
      cell(when(read.at), "when"),
      cell(badge(read.operation), "what"),
      cell(String(read.hits), "number"),
      cell(read.evidence),
      cell(read.ms.toFixed(1), "number"),
      cell(read.actor, "less"),
      cell(receipt, "less"),
    ];
  },
};

function add(body, data) {
  if (paused) {
    waiting.push([body, data]);
    return;
  }
  const group = data.request && data.change ? `${data.request} ${data.change}` : "",
    before = group && [...body.rows].slice(0, RECENT).find((one) => one.dataset.group === group),
    row = document.createElement("tr"),
    times = before ? Number(before.querySelector("[data-times]").dataset.times) + 1 : 1;
  row.className = before ? "" : "fresh";
  row.dataset.group = group;
  row.append(...ROWS[body.dataset.streamName](body, data, times));
  if (before) before.replaceWith(row);
  else body.prepend(row);
  while (body.rows.length > Number(body.dataset.most)) body.lastElementChild.remove();
  body.closest("section").querySelector("[data-stream-empty]")?.remove();
}

function say(name, text) {
  const place = document.querySelector(`[data-stream-state="${name}"]`);
  if (place) place.textContent = text;
}

for (const body of document.querySelectorAll("tbody[data-stream]")) {
  const name = body.dataset.streamName;
  const source = new EventSource(body.dataset.stream);
  source.onopen = () => say(name, "Connected.");
  source.onerror = () => say(name, source.readyState === EventSource.CLOSED ? "Disconnected: load the page again." : "Connecting again …");
  for (const kind of body.dataset.events.split(" ")) source.addEventListener(kind, (event) => add(body, JSON.parse(event.data)));
  source.addEventListener("end", (event) => {
    const { code, detail } = JSON.parse(event.data);
    if (code === "stopping") return;
    source.close();
    say(name, detail);
  });
  addEventListener("pagehide", () => source.close());
}
document.querySelector("[data-stream-pause]")?.addEventListener("click", (event) => {
  paused = !paused;
  event.currentTarget.textContent = paused ? "Go on" : "Pause";
  if (!paused) for (const [body, data] of waiting.splice(0)) add(body, data);
});
