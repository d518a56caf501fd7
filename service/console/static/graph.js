// Lets readers move and enlarge the pictures of graph and map, and walk through the graph. Lists have all that they show.
"use strict";

for (const place of document.querySelectorAll("[data-graph], [data-picture]")) {
  const canvas = place.querySelector(".canvas"),
    card = place.querySelector(".card"),
    kinds = place.querySelector("[data-kinds]"),
    back = place.querySelector("[data-back]"),
    seen = [place.dataset.graph];
  let svg, whole, view;

  /** Show a part of the picture: its left upper corner and its size. */
  function show(x, y, width, height) {
    view = [x, y, width, height];
    svg.setAttribute("viewBox", view.join(" "));
  }

  /** Enlarge around a point of the picture; 0 shows the whole. */
  function zoom(by, at = [view[0] + view[2] / 2, view[1] + view[3] / 2]) {
    const width = Math.min(Math.max(view[2] / (by || 1e-9), whole[2] / 20), whole[2]),
      factor = width / view[2];
    if (factor * view[3] >= whole[3]) show(...whole);
    else show(at[0] - (at[0] - view[0]) * factor, at[1] - (at[1] - view[1]) * factor, width, view[3] * factor);
  }

  /** Return the point of the picture below the pointer. */
  function point(event) {
    return [new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse())].map((one) => [one.x, one.y])[0];
  }

  /** Begin with the whole of the picture that is there. */
  function begin() {
    svg = canvas.querySelector("svg");
    whole = svg.getAttribute("viewBox").split(" ").map(Number);
    show(...whole);
  }

  /** Show only nodes of the chosen kind at full strength. */
  function dim() {
    for (const node of svg.querySelectorAll("[data-kind]")) node.classList.toggle("dim", kinds.value !== "" && node.dataset.kind !== kinds.value);
  }

  /** Read a picture and put it in the place of the one before. Its style is in the sheet of the console. */
  async function load(address) {
    const answer = await fetch(address, { headers: { Accept: "image/svg+xml" } });
    if (!answer.ok) return;
    const text = (await answer.text()).replace(/<style>[^]*?<\/style>/, "");
    svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    for (const node of svg.querySelectorAll("[data-id]")) {
      node.setAttribute("tabindex", "0");
      node.setAttribute("role", "button");
      node.setAttribute("aria-label", node.querySelector("title").textContent);
    }
    svg.setAttribute("role", "group");
    canvas.replaceChildren(svg);
    begin();
    dim();
    back.disabled = seen.length < 2;
  }

  /** Read about an entity beside the picture. */
  function read(node) {
    htmx.ajax("GET", `${place.dataset.entity.split("?")[0]}/${node.dataset.id}${location.search.includes("as_of") ? location.search : ""}`, { target: card, swap: "innerHTML" });
    svg.querySelectorAll(".chosen").forEach((one) => one.classList.remove("chosen"));
    node.classList.add("chosen");
  }

  let held = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, point(event));
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (!event.target.dataset.id) held = point(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held === null || !(event.buttons & 1)) return void (held = null);
    const now = point(event);
    show(view[0] + held[0] - now[0], view[1] + held[1] - now[1], view[2], view[3]);
  });
  canvas.addEventListener("click", (event) => event.target.dataset.id && read(event.target));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.dataset.id) read(event.target);
  });
  kinds?.addEventListener("change", dim);
  place.addEventListener("click", (event) => {
    const { zoom: by, around } = event.target.dataset;
    if (by !== undefined) zoom(Number(by));
    else if (around !== undefined) {
      seen.push(around);
      load(around);
    } else if (event.target === back) {
      seen.pop();
      load(seen.at(-1));
    }
  });
  if (seen[0] === undefined) begin();
  else load(seen[0]);
}
