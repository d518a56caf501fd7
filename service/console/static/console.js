// What pages need beyond HTML: times in the reader's zone, copying, keys. Pages work without it.
"use strict";

const SHOWN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Write all times below an element in the reader's zone. */
function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local], [data-ago])")) {
    time.textContent = SHOWN.format(new Date(time.dateTime));
    time.dataset.local = "";
  }
}

const SPANS = [
  [365 * 86400, "y"],
  [30 * 86400, "mo"],
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** Write how long ago times were; pages that stay open write it again each half minute. */
function agoTimes() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const seconds = (Date.now() - new Date(time.dateTime)) / 1000,
      span = SPANS.find(([each]) => seconds >= each);
    time.textContent = span ? `${Math.floor(seconds / span[0])} ${span[1]} ago` : "just now";
  }
}
setInterval(agoTimes, 30000);

/** Copy what a button names, and say so. */
async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
}

/** Keys of a page: elements with `data-key` name one each; `data-key-moves` marks the items that j and k walk through. */
const keys = {
  items: () => [...document.querySelectorAll("[data-key-item]")],
  at: -1,
  move(by) {
    const items = this.items();
    if (!items.length) return;
    items[this.at]?.classList.remove("selected");
    this.at = Math.min(Math.max(this.at + by, 0), items.length - 1);
    const item = items[this.at];
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  },
  /** Make the item that has the focus, or whose parts have it, the one that keys are for. */
  choose(target) {
    const items = this.items(),
      at = items.indexOf(target.closest?.("[data-key-item]"));
    if (at < 0) return;
    items[this.at]?.classList.remove("selected");
    this.at = at;
    items[at].classList.add("selected");
  },
  press(name) {
    const item = this.items()[this.at];
    const found = item?.querySelector(`[data-key="${name}"]`) ?? document.querySelector(`[data-key="${name}"]:not([data-key-item] *)`);
    if (!found) return false;
    if (found.matches("input:not([type=checkbox]), textarea, select")) found.focus();
    else found.click();
    return true;
  },
  show() {
    const list = document.getElementById("keys-list");
    const told = new Map([["?", "Show the keys of this page"]]);
    if (this.items().length) {
      told.set("j ↓", "Next item");
      told.set("k ↑", "Previous item");
      told.set("Enter", "Open the item");
    }
    told.set("Ctrl K", "Go to a page or a memory");
    for (const one of document.querySelectorAll("[data-key]")) told.set(one.dataset.key, one.dataset.keyTitle ?? one.textContent.trim());
    list.replaceChildren(
      ...[...told].flatMap(([key, title]) => {
        const dt = document.createElement("dt"),
          dd = document.createElement("dd"),
          kbd = document.createElement("kbd");
        kbd.textContent = key;
        dt.append(kbd);
        dd.textContent = title;
        return [dt, dd];
      }),
    );
    document.getElementById("keys").showModal();
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
  const onItem = event.target.matches("[data-key-item]");
  if (event.key === "?") keys.show();
  else if (event.key === "j" || (onItem && event.key === "ArrowDown")) keys.move(1);
  else if (event.key === "k" || (onItem && event.key === "ArrowUp")) keys.move(-1);
  else if (onItem && event.key === "Enter" && !event.target.matches("summary")) keys.press("o");
  else if (!keys.press(event.key)) return;
  event.preventDefault();
});
document.addEventListener("focusin", (event) => keys.choose(event.target));
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
document.addEventListener("htmx:after:swap", () => localTimes(document));
localTimes(document);

// The clock: the slider sets the field of the time, and says it in the reader's zone. At its end it is now.
document.addEventListener("input", (event) => {
  const form = event.target.closest("form:is([data-clock], [data-line])");
  if (form && event.target.type === "range") dial(form);
});
document.addEventListener("htmx:after:swap", () => document.querySelectorAll("form[data-clock]").forEach(dial));
document.querySelectorAll("form:is([data-clock], [data-line])").forEach(dial);

/** Show the time of a slider, and write it into the field that is sent. */
function dial(form) {
  const range = form.querySelector("[type=range]"),
    at = new Date(range.value * 1000),
    isNow = range.value === range.max;
  const text = isNow ? "now" : SHOWN.format(at);
  form.querySelector("output").textContent = text;
  range.setAttribute("aria-valuetext", text);
  if (form.elements.as_of) form.elements.as_of.value = isNow ? "" : at.toISOString().slice(0, 19);
}

// On narrow screens the navigation scrolls sideways: show the section of the page.
document.querySelector("body > nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// The list of memories. Selected rows: their number, all rows of a page, and with Shift those between two.
let pickedLast = null;
document.addEventListener("change", (event) => {
  const table = event.target.closest("table.rows");
  if (!table || event.target.type !== "checkbox") return;
  const boxes = [...table.querySelectorAll("input[name=id]")];
  if (event.target.matches("[data-all]")) for (const one of boxes) one.checked = event.target.checked;
  const count = boxes.filter((one) => one.checked).length;
  table.querySelector("[data-all]").checked = count === boxes.length;
  document.querySelector("#selected [data-count]").textContent = `${count} selected`;
});
document.addEventListener("click", (event) => {
  if (!event.target.matches(".pick input[name=id]")) return;
  const boxes = [...document.querySelectorAll(".pick input[name=id]")],
    [from, to] = [boxes.indexOf(pickedLast), boxes.indexOf(event.target)].sort((one, other) => one - other);
  if (event.shiftKey && from >= 0) for (const one of boxes.slice(from, to + 1)) one.checked = event.target.checked;
  pickedLast = event.target;
});

// Columns are kept in a cookie, and facets are filters of the form.
const filters = document.querySelector("form.filters[hx-get]");
document.querySelector("[data-columns]")?.addEventListener("change", (event) => {
  const names = [...event.currentTarget.querySelectorAll("[name=column]:checked")].map((one) => one.value);
  document.cookie = `muisti_columns=${names.join(".") || "none"}; path=/console; max-age=31536000; samesite=strict`;
  filters.requestSubmit();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-facet]"),
    field = link && filters?.elements[link.dataset.facet];
  if (!field || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  field.value = field.value === link.dataset.value ? "" : link.dataset.value;
  filters.requestSubmit();
});
document.addEventListener("htmx:after:swap", () => {
  for (const one of document.querySelectorAll("[data-facet]")) {
    if (filters?.elements[one.dataset.facet]?.value === one.dataset.value) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  const sheet = document.getElementById("sheet");
  if (sheet?.querySelector("form") && !sheet.open) sheet.showModal();
});
document.getElementById("sheet")?.addEventListener("cancel", (event) => {
  const changed = [...event.target.querySelectorAll("textarea, input:not([type=hidden])")].some((one) => one.value !== one.defaultValue);
  if (changed && !confirm("Close without saving what you typed?")) event.preventDefault();
});
document.getElementById("sheet")?.addEventListener("close", (event) => event.target.querySelector("[data-place]").replaceChildren());

/** The palette: pages, spaces and memories by a few letters. It opens with Ctrl-K. */
const palette = {
  dialog: document.getElementById("palette"),
  open() {
    this.list("");
    this.dialog.showModal();
    this.dialog.querySelector("input").select();
  },
  list(words) {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    const links = [...document.querySelectorAll("body > nav a, [data-palette] a")].map((one) => [one.textContent.trim(), one.href]);
    const asking = this.dialog.dataset.ask;
    const found = links.filter(([text]) => parts.every((part) => text.toLowerCase().includes(part)));
    if (asking && words) found.push([`Find “${words}” in memories`, `${this.dialog.dataset.memories}?q=${encodeURIComponent(words)}`], [`Ask “${words}”`, `${asking}?q=${encodeURIComponent(words)}`]);
    this.dialog.querySelector("ul").replaceChildren(
      ...found.slice(0, 12).map(([text, href], place) => {
        const item = document.createElement("li"),
          link = document.createElement("a");
        link.textContent = text;
        link.href = href;
        link.classList.toggle("selected", place === 0);
        item.append(link);
        return item;
      }),
    );
  },
  move(by) {
    const links = [...this.dialog.querySelectorAll("li a")],
      at = links.findIndex((one) => one.classList.contains("selected"));
    links[at]?.classList.remove("selected");
    links[Math.min(Math.max(at + by, 0), links.length - 1)]?.classList.add("selected");
  },
};
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    palette.open();
  } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter") event.target.form?.requestSubmit();
});
document.querySelector("[data-open-palette]").addEventListener("click", () => palette.open());
palette.dialog.addEventListener("input", (event) => palette.list(event.target.value));
palette.dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") palette.move(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter") palette.dialog.querySelector("a.selected")?.click();
  else return;
  event.preventDefault();
});
