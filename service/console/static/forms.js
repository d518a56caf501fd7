// Sends forms without leaving the page: what was typed stays, and a refusal is shown beside it. Pages work without it.
"use strict";

/** Return the name that a form gives to a field. */
function labelOf(field) {
  const label = field.labels?.[0];
  return (label?.querySelector("span") ?? label?.firstChild ?? { textContent: field.ariaLabel }).textContent?.trim();
}

/** Mark the fields that a refusal names, call them by their labels, and go to the first. */
function markFields(form, refusal) {
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
  for (const one of form.querySelectorAll(".wrong")) one.remove();
  const found = [];
  for (const item of refusal?.querySelectorAll("[data-path]") ?? []) {
    const name = /[a-z]\w*/.exec(item.dataset.path)?.[0],
      field = [...form.elements].find((one) => one.name === name && one.type !== "hidden");
    if (!field) continue;
    field.setAttribute("aria-invalid", "true");
    item.querySelector("strong").textContent = labelOf(field) || name;
    const why = document.createElement("small");
    why.className = "wrong";
    why.id = `wrong-${name}`;
    why.textContent = item.lastChild.textContent.replace(/^: /, "");
    field.setAttribute("aria-describedby", why.id);
    field.after(why);
    const folded = field.closest("details");
    if (folded) folded.open = true;
    found.push(field);
  }
  (found[0] ?? refusal)?.scrollIntoView({ block: "center" });
  found[0]?.focus({ preventScroll: true });
}

/** Show a text or the elements of a refusal at the top of a form. */
function refuse(form, ...content) {
  form.querySelector(":scope > .refusal")?.remove();
  const section = document.createElement("section");
  section.className = "refusal";
  section.setAttribute("role", "alert");
  section.append(...content);
  form.prepend(section);
  markFields(form, section);
}

/** Show the page that answers a form, or the part of it that belongs in the place of the form. */
function showAnswer(form, page) {
  const place = form.closest("[data-place]"),
    part = place && page.querySelector("[data-place]"),
    own = form.dataset.into && page.querySelector(form.dataset.into),
    into = own ? document.querySelector(form.dataset.into) : part ? place : document.getElementById("main");
  into.replaceChildren(...(own || part || page.getElementById("main")).childNodes);
  if (into.id === "main") document.title = page.title;
  htmx.process(into);
  localTimes(into);
  const alert = into.querySelector("[role=alert]");
  if (alert && into.querySelector("form.edit")) markFields(into.querySelector("form.edit"), alert);
  else (alert ?? into).scrollIntoView({ block: "start" });
}

/** Send files, with a bar of what has arrived; `fetch` tells nothing of it. */
function upload(form, body) {
  const bar = document.createElement("progress"),
    request = new XMLHttpRequest();
  bar.setAttribute("aria-label", "Progress of the upload");
  bar.max = 1;
  form.append(bar);
  request.upload.addEventListener("progress", (event) => (bar.value = event.loaded / event.total));
  request.upload.addEventListener("load", () => bar.removeAttribute("value")); // it is being read
  return new Promise((found, refused) => {
    request.addEventListener("load", () => found(new Response(request.status === 204 ? null : request.response, { status: request.status, headers: { "HX-Redirect": request.getResponseHeader("HX-Redirect") ?? "" } })));
    for (const name of ["error", "abort", "timeout"]) request.addEventListener(name, refused);
    request.open("POST", form.getAttribute("action"));
    request.setRequestHeader("HX-Request", "true");
    request.send(body);
  }).finally(() => bar.remove());
}

/** Send a form, and follow the answer. */
async function sendForm(form, button) {
  const given = new FormData(form, button),
    action = form.getAttribute("action");
  const answer = form.querySelector("[type=file]")
    ? await upload(form, given)
    : await fetch(action, { method: "POST", body: new URLSearchParams(given), headers: { "HX-Request": "true" } });
  if (answer.status === 401) return refuse(form, "Your session has ended. Sign in again in another tab, then send this once more.");
  const next = answer.headers.get("HX-Redirect") || (answer.redirected ? answer.url : null);
  if (next) return location.assign(next);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html"),
    refusal = page.querySelector("body > .refusal");
  if (refusal) refuse(form, ...refusal.childNodes);
  else showAnswer(form, page);
}

document.addEventListener("submit", async (event) => {
  const form = event.target,
    button = event.submitter;
  if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.dataset.plain !== undefined || button?.dataset.plain !== undefined) return;
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  try {
    await sendForm(form, button);
  } catch {
    refuse(form, "The server did not answer, so this may or may not have been saved. What you typed is still here.");
  } finally {
    form.ariaBusy = null;
  }
});

// A form that comes in the place of a text is ready to type in.
document.addEventListener("htmx:after:swap", () => {
  const text = document.querySelector("[data-place] textarea:not([data-ready])");
  if (!text) return;
  text.dataset.ready = "";
  text.focus();
  text.scrollIntoView({ block: "nearest" });
});

// Names that are known complete the last one of a list that commas separate.
document.addEventListener("input", (event) => {
  const list = event.target.dataset?.words !== undefined && event.target.list;
  if (!list) return;
  const before = event.target.value.slice(0, event.target.value.lastIndexOf(",") + 1);
  for (const one of list.options) {
    one.dataset.name ??= one.value;
    one.value = before ? `${before} ${one.dataset.name}` : one.dataset.name;
  }
});
