"use strict";
// What is typed and not saved yet stays in this tab: a reload, a lost network or an ended session takes nothing.
(() => {
  const keyOf = (name) => "earmark-text-" + name;
  const saved = document.querySelector("[data-saved]");
  if (saved && document.querySelector(".messagelist .success")) {
    for (const name of ["new", saved.dataset.saved]) sessionStorage.removeItem(keyOf(name));
  }
  const form = document.querySelector("form[data-keep]");
  if (!form) return;
  const key = keyOf(form.dataset.keep);
  const fields = ["title", "body"].map((name) => form.elements[name]);
  const notice = form.querySelector("[data-kept]");
  const read = () => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } };
  const keep = () => {
    // When the tab has no room left, the text still stands on the page itself.
    try { sessionStorage.setItem(key, JSON.stringify(fields.map((field) => field.value))); } catch { return; }
  };
  const kept = read();
  notice.hidden = !kept || kept.every((text, place) => text === fields[place].value);
  notice.querySelector("[data-kept-use]").addEventListener("click", () => {
    fields.forEach((field, place) => { field.value = kept[place]; });
    notice.hidden = true;
    fields[1].focus();
  });
  notice.querySelector("[data-kept-drop]").addEventListener("click", () => {
    sessionStorage.removeItem(key);
    notice.hidden = true;
    fields[0].focus();
  });
  form.addEventListener("input", keep);
})();
