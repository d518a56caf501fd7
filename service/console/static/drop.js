// Stores files and folders that are dropped anywhere on the page. Without it the form takes chosen files.
"use strict";

const drop = document.querySelector("[data-drop]"),
  files = drop?.querySelector("[type=file]"),
  FILES_MAX = 500;

/** Yield the files of what was dropped, with their paths below the folder that was dropped. */
async function* filesOf(entry, path = "") {
  if (entry.isFile) {
    const file = await new Promise((found, refused) => entry.file(found, refused));
    yield new File([file], path + file.name, { type: file.type });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const entries = await new Promise((found, refused) => reader.readEntries(found, refused));
    if (!entries.length) return;
    for (const one of entries) yield* filesOf(one, `${path}${entry.name}/`);
  }
}

/** Send the files of the form. */
function store() {
  drop.querySelector("label span").textContent = `Storing ${files.files.length === 1 ? "1 file" : `${files.files.length} files`} …`;
  drop.requestSubmit(drop.querySelector("button"));
}

if (drop) {
  drop.classList.add("live");
  files.addEventListener("change", () => files.files.length && store());
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && drop.classList.remove("over"));
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    drop.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry()).filter(Boolean),
      found = new DataTransfer();
    if (!entries.length) for (const file of event.dataTransfer.files) found.items.add(file);
    for (const entry of entries) {
      for await (const file of filesOf(entry)) {
        found.items.add(file);
        if (found.files.length > FILES_MAX) return refuse(drop, `More than ${FILES_MAX} files: use muisti ingest for such a folder.`);
      }
    }
    files.files = found.files;
    if (files.files.length) store();
  });
}
