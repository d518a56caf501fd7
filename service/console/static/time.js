// The line of time: its arrows move by steps that can be seen, and it holds fast at checkpoints. Pages work without it.
"use strict";

const STEPS = 200; // of the line, by its arrows
const NEAR = 0.008; // of the line, on both sides of a checkpoint
const line = document.querySelector("form[data-line]"),
  range = line?.querySelector("[type=range]");

if (range) {
  const [first, last] = [Number(range.min), Number(range.max)],
    marks = [first, ...[...range.list.options].map((one) => Number(one.value)), last].sort((one, other) => one - other);

  /** Show a second of the line, and read what was then. */
  const go = (second) => {
    range.value = second;
    range.dispatchEvent(new Event("input", { bubbles: true }));
  };

  range.addEventListener("pointerdown", () => (line.dataset.dragged = ""));
  range.addEventListener("pointerup", () => delete line.dataset.dragged);
  range.addEventListener("input", () => {
    const near = marks.find((one) => Math.abs(one - range.value) < (last - first) * NEAR);
    if (near !== undefined && line.dataset.dragged !== undefined) range.value = near;
  });
  range.addEventListener("keydown", (event) => {
    const step = Math.max(1, Math.round((last - first) / STEPS)),
      at = Number(range.value),
      next = {
        ArrowLeft: at - step,
        ArrowDown: at - step,
        ArrowRight: at + step,
        ArrowUp: at + step,
        PageDown: marks.findLast((one) => one < at) ?? first,
        PageUp: marks.find((one) => one > at) ?? last,
      }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(next);
  });
}
