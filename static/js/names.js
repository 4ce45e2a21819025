// The admin's search-and-choose fields draw their own boxes; gives those the names of their labels.
"use strict";
const nameBox = (box) => {
  const select = box.closest(".select2")?.previousElementSibling;
  const label = select && document.querySelector(`label[for="${select.id}"]`);
  if (!label || box.hasAttribute("aria-label")) return;
  box.setAttribute("aria-label", label.textContent.replace(/:\s*$/, "").trim());
  box.removeAttribute("aria-labelledby");
  const shown = box.querySelector(".select2-selection__rendered");
  shown?.removeAttribute("role");
  shown?.removeAttribute("aria-readonly");
};
new MutationObserver(() => document.querySelectorAll(".select2-selection").forEach(nameBox))
  .observe(document.documentElement, { childList: true, subtree: true });
