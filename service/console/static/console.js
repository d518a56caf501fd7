// What pages need beyond HTML: times in the reader's zone, copying, keys. Pages work without it.
"use strict";

const SHOWN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Write all times below an element in the reader's zone. */
function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    time.textContent = SHOWN.format(new Date(time.dateTime));
    time.dataset.local = "";
  }
}

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
    item.classList.add("selected");
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  },
  press(name) {
    const item = this.items()[this.at];
    const found = item?.querySelector(`[data-key="${name}"]`) ?? document.querySelector(`[data-key="${name}"]:not([data-key-item] *)`);
    if (!found) return false;
    if (found.matches("input, textarea, select")) found.focus();
    else found.click();
    return true;
  },
  show() {
    const list = document.getElementById("keys-list");
    const told = new Map([["?", "Show the keys of this page"]]);
    if (this.items().length) {
      told.set("j", "Next item");
      told.set("k", "Item before");
    }
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
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "?") keys.show();
  else if (event.key === "j") keys.move(1);
  else if (event.key === "k") keys.move(-1);
  else if (!keys.press(event.key)) return;
  event.preventDefault();
});
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
  const form = event.target.closest("form[data-clock]");
  if (form && event.target.type === "range") dial(form);
});
document.addEventListener("htmx:after:swap", () => document.querySelectorAll("form[data-clock]").forEach(dial));
document.querySelectorAll("form[data-clock]").forEach(dial);

/** Show the time of a slider, and write it into the field that is sent. */
function dial(form) {
  const range = form.querySelector("[type=range]"),
    at = new Date(range.value * 1000),
    isNow = range.value === range.max;
  const text = isNow ? "now" : SHOWN.format(at);
  form.querySelector("output").textContent = text;
  range.setAttribute("aria-valuetext", text);
  form.elements.as_of.value = isNow ? "" : at.toISOString().slice(0, 19);
}

// On narrow screens the navigation scrolls sideways: show the section of the page.
document.querySelector("body > nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
