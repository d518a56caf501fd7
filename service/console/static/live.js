// Continues the tables of the page Live with what the API streams: changes and reads as they happen.
"use strict";

let paused = false;
const waiting = [];

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
  time.textContent = SHOWN.format(new Date(at));
  time.dataset.local = "";
  return time;
}

const ROWS = {
  changes(body, change) {
    const memory = change.after ?? change.before;
    const text = (memory?.content ?? "").trim().split("\n")[0].slice(0, 120) || "the space itself";
    const name = change.memory_id ? link(`${body.dataset.place}/${change.memory_id}`, text) : text;
    return [cell(when(change.at)), cell(badge(change.change)), cell(name), cell(change.actor)];
  },
  reads(body, read) {
    const receipt = read.receipt ? link(`${body.dataset.place}/${read.receipt}`, "replay") : "";
    return [
      cell(when(read.at)),
      cell(badge(read.operation)),
      cell(String(read.hits), "number"),
      cell(read.evidence),
      cell(read.ms.toFixed(1), "number"),
      cell(read.actor),
      cell(receipt),
    ];
  },
};

function add(body, data) {
  if (paused) {
    waiting.push([body, data]);
    return;
  }
  const row = document.createElement("tr");
  row.className = "fresh";
  row.append(...ROWS[body.dataset.streamName](body, data));
  body.prepend(row);
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
