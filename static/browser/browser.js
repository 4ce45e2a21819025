// Without a script the browser works too: this adds "all on this page", and files dropped on a folder.
"use strict";
const everyBox = document.getElementById("browse-page");
if (everyBox) {
  const boxes = [...document.querySelectorAll(".browse__box")];
  everyBox.closest("p").hidden = false;
  everyBox.addEventListener("change", () => boxes.forEach((box) => { box.checked = everyBox.checked; }));
  boxes.forEach((box) => box.addEventListener("change", () => { everyBox.checked = boxes.every((one) => one.checked); }));
}

const drop = document.getElementById("drop-form");
if (drop) {
  const page = drop.closest(".browse");
  const files = document.getElementById("drop-files");
  const folder = drop.querySelector("[name=folder]");
  document.getElementById("drop-words").hidden = false;
  const target = (event) => event.target.closest("[data-folder]");
  const mark = (row) => {
    page.querySelectorAll(".browse__row.is-target").forEach((one) => one.classList.remove("is-target"));
    row?.classList.add("is-target");
  };
  const isFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  page.addEventListener("dragover", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    page.classList.add("is-target");
    mark(target(event));
  });
  page.addEventListener("dragleave", (event) => {
    if (page.contains(event.relatedTarget)) return;
    page.classList.remove("is-target");
    mark(null);
  });
  page.addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    const row = target(event);
    if (row) folder.value = row.dataset.folder.split("/").slice(1).join("/");
    files.files = event.dataTransfer.files;
    if (files.files.length) drop.requestSubmit();
  });
}
