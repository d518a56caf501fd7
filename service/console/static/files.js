// Files of a form: chosen or dropped, also whole folders, each under its path. Forms take chosen files without it.
"use strict";

const drop = document.querySelector("[data-drop]"),
  files = drop?.querySelector("[name=file]"),
  folder = drop?.querySelector("[data-folder]"),
  chosen = drop?.querySelector("[data-chosen]"),
  stores = drop?.matches("form"), // files are sent as soon as they are there, from anywhere on the page
  area = stores ? document : drop,
  MOST = Number(drop?.dataset.drop) || Infinity;

/** Return a file under its path. */
const placed = (file, path) => new File([file], path, { type: file.type, lastModified: file.lastModified });

/** Yield the files below a dropped entry, with their paths below the folder that was dropped. */
async function* filesOf(entry, path = "") {
  if (entry.isFile) return yield placed(await new Promise((found, refused) => entry.file(found, refused)), path + entry.name);
  const reader = entry.createReader();
  for (let entries; (entries = await new Promise((found, refused) => reader.readEntries(found, refused))).length; )
    for (const one of entries) yield* filesOf(one, `${path}${entry.name}/`);
}

/** Give the form files. */
function choose(found) {
  const data = new DataTransfer();
  for (const one of found) data.items.add(one);
  files.files = data.files;
  files.dispatchEvent(new Event("change"));
}

/** Return the files that were dropped; null when they are too many. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((one) => one.webkitGetAsEntry()).filter(Boolean),
    found = entries.length ? [] : [...transfer.files];
  for (const entry of entries)
    for await (const file of filesOf(entry)) {
      if (found.length === MOST) return null;
      found.push(file);
    }
  return found;
}

if (drop) {
  drop.classList.toggle("live", stores);
  if (folder) folder.hidden = !("webkitdirectory" in files);
  folder?.querySelector("input").addEventListener("change", (event) => choose([...event.target.files].map((one) => placed(one, one.webkitRelativePath))));
  files.addEventListener("change", () => {
    const given = [...files.files],
      size = given.reduce((sum, one) => sum + one.size, 0),
      name = given.length === 1 ? given[0].name : `${given.length} files`;
    if (chosen) chosen.textContent = given.length ? `${name}, ${(size / 1e6).toFixed(size < 1e5 ? 3 : 1)} MB` : "Nothing is chosen.";
    if (!stores || !given.length) return;
    drop.querySelector("label span").textContent = `Storing ${name} …`;
    drop.requestSubmit(drop.querySelector("button"));
  });
  for (const name of ["dragenter", "dragover", "dragleave", "drop"])
    area.addEventListener(name, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      const leaves = name === "drop" || (name === "dragleave" && !area.contains(event.relatedTarget));
      drop.classList.toggle("over", !leaves);
    });
  area.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    const found = await dropped(event.dataTransfer);
    if (found) choose(found);
    else refuse(drop, `More than ${MOST} files: use muisti ingest for such a folder.`);
  });
}
