// Files for an import: chosen, dropped, or a whole folder. The form works without it, for files.
"use strict";

const area = document.querySelector("[data-drop]");
if (area) {
  const input = area.querySelector("[name=file]"),
    folder = area.querySelector("[data-folder]"),
    said = area.querySelector("[data-chosen]");

  /** Give the form files, each under its path. */
  const choose = (found) => {
    const data = new DataTransfer();
    for (const [file, path] of found) data.items.add(new File([file], path, { type: file.type, lastModified: file.lastModified }));
    input.files = data.files;
    input.dispatchEvent(new Event("change"));
  };

  /** Yield the files below a dropped entry with their paths. */
  const walk = async (entry, path, found) => {
    if (entry.isFile) found.push([await new Promise((done, fail) => entry.file(done, fail)), path + entry.name]);
    else {
      const reader = entry.createReader();
      for (let some; (some = await new Promise((done, fail) => reader.readEntries(done, fail))).length; )
        for (const one of some) await walk(one, `${path}${entry.name}/`, found);
    }
    return found;
  };

  folder.hidden = !("webkitdirectory" in input);
  folder.querySelector("input").addEventListener("change", (event) => choose([...event.target.files].map((one) => [one, one.webkitRelativePath])));
  input.addEventListener("change", () => {
    const files = [...input.files],
      size = files.reduce((sum, one) => sum + one.size, 0);
    said.textContent = files.length ? `${files.length === 1 ? files[0].name : `${files.length} files`}, ${(size / 1e6).toFixed(size < 1e5 ? 3 : 1)} MB` : "Nothing is chosen.";
  });
  for (const name of ["dragenter", "dragover", "dragleave", "drop"])
    area.addEventListener(name, (event) => {
      event.preventDefault();
      area.classList.toggle("over", name === "dragenter" || name === "dragover");
    });
  area.addEventListener("drop", async (event) => {
    const entries = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry()).filter(Boolean);
    if (entries.some((one) => one.isDirectory)) {
      const found = [];
      for (const one of entries) await walk(one, "", found);
      choose(found);
    } else {
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change"));
    }
  });
}
