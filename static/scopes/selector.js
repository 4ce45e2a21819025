// Owns the unsaved selection of the scope page. Rows carry what is stored; everything shown is
// computed from that and from one small difference for each root, mirrored in sessionStorage.
"use strict";
(() => {
  const form = document.getElementById("scope-form");
  if (!form) return;
  const words = JSON.parse(document.getElementById("scope-words").textContent);
  const live = document.getElementById("scope-live");
  const plural = new Intl.PluralRules(document.documentElement.lang || "en");
  const mayChange = "mayChange" in form.dataset;

  const numeral = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const counted = (forms, n) => forms[plural.select(n)].replace("{n}", numeral(n));
  let speaking = 0;
  const announce = (text) => {
    clearTimeout(speaking);
    live.textContent = "";
    speaking = setTimeout(() => { live.textContent = text; }, 120);
  };
  const rootOf = (element) => element.closest("[data-root]");
  const inRoot = (name) => document.getElementById(`root-${name}`);
  const show = (element, text) => {
    if (!element) return;
    element.textContent = text;
    element.hidden = !text;
  };

  // ---- What is not saved ---------------------------------------------------------------------
  const stores = new Map();
  const place = (name) => `earmark.scope.${form.dataset.agent}.${form.dataset.person}.${name}`;
  const fresh = () => ({ add: new Map(), remove: new Map(), clear: false, sending: null });
  const isDirty = (store) => store.add.size > 0 || store.remove.size > 0 || store.clear;
  const deltaText = (store) =>
    JSON.stringify({ add: [...store.add.keys()], remove: [...store.remove.keys()], clear: store.clear });

  function restore(name) {
    const root = inRoot(name);
    const store = fresh();
    const sent = JSON.parse(root.querySelector("[data-delta]").value);
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(place(name))); } catch { kept = null; }
    if (sent.add.length || sent.remove.length || sent.clear) {
      for (const key of sent.add) store.add.set(key, []);
      for (const key of sent.remove) store.remove.set(key, []);
      store.clear = sent.clear;
    } else if (kept) {
      store.add = new Map(kept.add);
      store.remove = new Map(kept.remove);
      store.clear = kept.clear;
      // Changes made against an older version stay so: saving them says who saved between.
      if (mayChange) root.querySelector("[data-version]").value = kept.version;
    }
    stores.set(name, store);
  }
  function keep(name) {
    const root = inRoot(name);
    const store = stores.get(name);
    root.querySelector("[data-delta]").value = deltaText(store);
    try {
      if (!isDirty(store)) sessionStorage.removeItem(place(name));
      else sessionStorage.setItem(place(name), JSON.stringify({
        add: [...store.add], remove: [...store.remove], clear: store.clear,
        version: root.querySelector("[data-version]").value,
      }));
    } catch { /* A full or forbidden store costs the reload, not the page. */ }
  }
  const picks = (store, key, saved) => store.add.has(key) || (saved && !store.clear && !store.remove.has(key));
  function toggle(store, key, saved, isTicked, around) {
    if (saved && !store.clear) {
      store.add.delete(key);
      if (isTicked) store.remove.delete(key); else store.remove.set(key, around);
    } else if (isTicked) store.add.set(key, around);
    else store.add.delete(key);
  }
  // The server has stored what was sent; what was ticked meanwhile stays a difference to that.
  function rebase(store, sent) {
    const gone = [...sent.add].filter(([key]) => !store.add.has(key));
    const back = store.clear ? [] : [...sent.remove].filter(([key]) => !store.remove.has(key) && !store.add.has(key));
    for (const key of sent.add.keys()) store.add.delete(key);
    for (const key of sent.remove.keys()) store.remove.delete(key);
    if (sent.clear) store.clear = false;
    if (!store.clear) {
      for (const [key, around] of gone) store.remove.set(key, around);
      for (const [key, around] of back) store.add.set(key, around);
    }
    store.sending = null;
  }

  // ---- What is shown -------------------------------------------------------------------------
  const steps = (row) => {
    const holder = row.closest("[data-steps]");
    return holder ? JSON.parse(holder.dataset.steps) : [];
  };
  function included(name, element) {
    const [before, after] = words.included.split("{name}");
    const isolated = document.createElement("bdi");
    isolated.textContent = name;
    element.replaceChildren(before, isolated, after);
    element.hidden = false;
  }
  function insideChanges(store) {
    const changes = new Map();
    const count = (kept, by) => {
      for (const around of kept.values()) for (const key of around) changes.set(key, (changes.get(key) || 0) + by);
    };
    count(store.add, 1);
    count(store.remove, -1);
    return changes;
  }
  function paintRow(row, store, changes) {
    const key = row.dataset.key;
    const saved = row.dataset.base === "1";
    const isPicked = picks(store, key, saved);
    const line = row.querySelector(":scope > .row__line");
    line.querySelector("[data-box]").checked = isPicked;
    const above = isPicked ? undefined : steps(row).reverse().find(([one, , kept]) => picks(store, one, kept === 1));
    const told = line.querySelector("[data-included]");
    if (above) included(above[1], told); else show(told, "");
    show(line.querySelector("[data-unsaved-words]"), isPicked === saved ? "" : isPicked ? words.added : words.removed);
    if (row.dataset.inside !== undefined) {
      const inside = (store.clear ? 0 : Number(row.dataset.inside)) + (changes.get(key) || 0);
      show(line.querySelector("[data-inside-words]"), inside > 0 ? counted(words.inside, inside) : "");
    }
  }
  function totals(name) {
    const state = document.getElementById(`state-${name}`);
    const store = stores.get(name);
    const saved = Number(state.dataset.saved);
    const count = (store.clear ? 0 : saved - store.remove.size) + store.add.size;
    const unsaved = store.add.size + store.remove.size + (store.clear ? Math.max(1, saved) : 0);
    const mode = isDirty(store) ? (count ? "selected" : "all") : state.dataset.state;
    return { state, count, unsaved, mode };
  }
  const modeWords = { all: words.all, selected: words.restricted, vacant: words.vacant };
  function paint(name) {
    const root = inRoot(name);
    const store = stores.get(name);
    const changes = insideChanges(store);
    for (const row of root.querySelectorAll(".row")) paintRow(row, store, changes);
    const { state, count, unsaved, mode } = totals(name);
    state.dataset.now = mode;
    show(state.querySelector("[data-mode]"), modeWords[mode]);
    show(state.querySelector("[data-count]"), count ? counted(words.selected, count) : "");
    show(state.querySelector("[data-unsaved]"), unsaved ? counted(words.unsaved, unsaved) : "");
    state.querySelector("[data-why]").hidden = mode === "all";
    keep(name);
  }
  function summary(name, before) {
    const { count, mode } = totals(name);
    const told = [modeWords[mode]];
    if (count) told.push(counted(words.selected, count));
    if (before === "all" && mode !== "all") told.push(words.explanation);
    return told.join(". ");
  }

  // ---- Loading, failing, trying again --------------------------------------------------------
  const controlled = (button) => document.getElementById(button.getAttribute("aria-controls"));
  function paragraph(text, name) {
    const element = document.createElement("p");
    element.className = name;
    element.textContent = text;
    return element;
  }
  function load(button) {
    const panel = controlled(button);
    panel.replaceChildren(paragraph(words.loading, "panel__loading"));
    announce(words.loading);
    htmx.trigger(button, "scope:load");
  }
  function open(button) {
    const panel = controlled(button);
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    panel.hidden = isOpen;
    if (!isOpen && !("loaded" in panel.dataset)) load(button);
  }
  const flatOf = (root) => root.querySelector("[data-flat]");
  const messageOf = (root) => root.querySelector("[data-message]");
  function placeOf(element) {
    const root = rootOf(element);
    if ("opens" in element.dataset) return controlled(element);
    if (element.dataset.sends === "page") return element.closest(".panel");
    if (element.dataset.sends === "preview") return document.getElementById("scope-preview");
    if (element.dataset.sends === "save" || element.dataset.sends === "theirs") return messageOf(root);
    return flatOf(root);
  }
  function reason(element, xhr) {
    const status = xhr ? xhr.status : 0;
    if (status === 401) return words.signedOut;
    if (status === 403) return words.forbidden;
    if (status === 413) return words.tooLarge;
    const saves = element.dataset.sends === "save";
    if (status === 400 && saves && xhr.responseText) return xhr.responseText;
    return saves ? words.notSaved.replace("{root}", rootOf(element).dataset.label) : words.notLoaded;
  }
  function again(element) {
    if ("opens" in element.dataset) { element.focus(); load(element); }
    else if (element.dataset.sends === "find") { element.focus(); htmx.trigger(element, "scope:find"); }
    else { element.focus(); element.click(); }
  }
  function failed(element, xhr) {
    if (!element.isConnected) return;
    const saves = element.dataset.sends === "save";
    const text = reason(element, xhr);
    const failure = document.createElement("div");
    failure.className = "failure notice notice--warning";
    if (saves) failure.setAttribute("role", "alert");
    failure.append(paragraph(text, "failure__text"));
    const retry = document.createElement("button");
    retry.type = "button";
    retry.className = "button button--plain";
    retry.textContent = words.again;
    retry.addEventListener("click", () => { failure.remove(); again(element); });
    failure.append(retry);
    const where = placeOf(element);
    where.removeAttribute("aria-busy");
    where.querySelector(":scope > .failure")?.remove();
    if ("opens" in element.dataset || saves) where.replaceChildren(failure);
    else { where.querySelector(":scope > .waiting")?.remove(); where.append(failure); }
    if (!saves) announce(text);
  }
  function ended(element) {
    const root = rootOf(element);
    if (element.dataset.sends !== "save" || !root) return;
    stores.get(root.dataset.root).sending = null;
    document.getElementById(`save-${root.dataset.root}`).removeAttribute("aria-disabled");
  }
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      const element = event.detail.requestConfig?.elt || event.detail.elt;
      ended(element);
      failed(element, name === "htmx:responseError" ? event.detail.xhr : null);
    });
  }

  // ---- What is sent --------------------------------------------------------------------------
  const cookie = () => document.cookie.split("; ").find((one) => one.startsWith("csrftoken="))?.slice(10) || "";
  function sendsSave(event, element) {
    const name = rootOf(element).dataset.root;
    const store = stores.get(name);
    if (store.sending || !isDirty(store)) {
      event.preventDefault();
      if (!store.sending) announce(words.nothing);
      return null;
    }
    store.sending = { add: new Map(store.add), remove: new Map(store.remove), clear: store.clear };
    document.getElementById(`save-${name}`).setAttribute("aria-disabled", "true");
    announce(words.saving);
    const over = element.dataset.over;
    if (!over) messageOf(rootOf(element)).replaceChildren(paragraph(words.saving, "waiting"));
    const base = inRoot(name).querySelector("[data-version]").value;
    return { root: name, version: over || base, base, delta: deltaText(store), ...(over ? { fresh: "1" } : {}) };
  }
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt: element, headers } = event.detail;
    const name = rootOf(element)?.dataset.root;
    headers["X-CSRFToken"] = cookie();
    const sends = element.dataset.sends;
    let parameters = {};
    if (sends === "save") parameters = sendsSave(event, element);
    else if (sends === "find") parameters = { root: name, q: element.value };
    else if (sends === "review") parameters = { root: name, offset: element.dataset.offset, delta: deltaText(stores.get(name)) };
    else if (sends === "preview") parameters = Object.fromEntries([...stores].map(([one, store]) => [`delta.${one}`, deltaText(store)]));
    if (parameters) event.detail.parameters = parameters;
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt: element } = event.detail;
    const sends = element.dataset.sends;
    if (!["page", "find", "review", "preview"].includes(sends)) return;
    const where = placeOf(element);
    where.setAttribute("aria-busy", "true");
    where.querySelector(":scope > .failure")?.remove();
    if (!where.querySelector(":scope > .waiting")) where.append(paragraph(words.loading, "waiting"));
    if (sends !== "find") announce(words.loading);
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig } = event.detail;
    const element = requestConfig.elt;
    const root = rootOf(element);
    if (!root) return;
    const name = root.dataset.root;
    const store = stores.get(name);
    if (element.dataset.sends === "theirs" && xhr.status === 200) stores.set(name, fresh());
    if (element.dataset.sends !== "save") return;
    const sent = store.sending;
    ended(element);
    if (xhr.status !== 200 || !sent) return;
    for (const row of root.querySelectorAll(".row")) {
      const key = row.dataset.key;
      const changes = insideChanges(sent);
      const inside = (sent.clear ? 0 : Number(row.dataset.inside)) + (changes.get(key) || 0);
      if (row.dataset.inside !== undefined) row.dataset.inside = String(Math.max(0, inside));
      row.dataset.base = picks(sent, key, row.dataset.base === "1") ? "1" : "0";
    }
    for (const holder of root.querySelectorAll("[data-steps]")) {
      const told = JSON.parse(holder.dataset.steps);
      holder.dataset.steps = JSON.stringify(told.map(([key, label, kept]) => [key, label, picks(sent, key, kept === 1) ? 1 : 0]));
    }
    rebase(store, sent);
    messageOf(root).replaceChildren();
  });

  // ---- What comes back -----------------------------------------------------------------------
  const settled = new WeakSet();
  const first = (panel) => panel.querySelector(".row__box:not(:disabled)") || panel.querySelector("button");
  const arrivals = {
    page(element, root, target) {
      first(target)?.focus();
      told(target);
    },
    find(element, root) {
      const flat = flatOf(root);
      root.querySelector("[data-tree]").hidden = flat.childElementCount > 0;
      announce(flat.querySelector("[data-summary]")?.textContent || "");
    },
    review(element, root) {
      root.querySelector("[data-tree]").hidden = true;
      root.querySelector("[data-sends=find]").value = "";
      flatOf(root).querySelector("[data-focus]")?.focus();
      announce(flatOf(root).querySelector("[data-summary]")?.textContent || "");
    },
    save(element, root, target, xhr) {
      if (xhr.status === 409) {
        const heading = messageOf(root).querySelector("[data-focus]");
        heading?.focus();
        return;
      }
      const state = document.getElementById(`state-${root.dataset.root}`);
      document.getElementById(`save-${root.dataset.root}`)?.focus();
      announce(`${state.dataset.told || ""} ${summary(root.dataset.root, "")}`.trim());
    },
    theirs(element, root) {
      document.getElementById(`save-${root.dataset.root}`)?.focus();
      announce(summary(root.dataset.root, ""));
    },
  };
  function told(panel) {
    announce(panel.querySelector("[data-told-list]")?.dataset.toldList || "");
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    const { requestConfig, xhr, target } = event.detail;
    if (!xhr || settled.has(xhr)) return;
    settled.add(xhr);
    const element = requestConfig.elt;
    const name = element.closest("[data-root]")?.dataset.root || target.dataset?.root || rootOf(target)?.dataset.root;
    target.removeAttribute?.("aria-busy");
    if (!name) {
      document.querySelector("#scope-preview [data-focus]")?.focus();
      announce(document.querySelector("#scope-preview [data-summary]")?.textContent || "");
      return;
    }
    paint(name);
    if ("opens" in element.dataset) {
      controlled(element).dataset.loaded = "";
      told(controlled(element));
    } else arrivals[element.dataset.sends]?.(element, inRoot(name), target, xhr);
  });

  // ---- What is pressed -----------------------------------------------------------------------
  form.addEventListener("change", (event) => {
    const box = event.target;
    if (!box.matches("[data-box]")) return;
    const row = box.closest(".row");
    const name = rootOf(box).dataset.root;
    const before = totals(name).mode;
    toggle(stores.get(name), row.dataset.key, row.dataset.base === "1", box.checked, steps(row).map(([key]) => key));
    show(document.querySelector(`#state-${name} [data-told-here]`), "");
    paint(name);
    announce(summary(name, before));
  });
  const pressed = {
    opens: (button) => open(button),
    find: (button) => htmx.trigger(rootOf(button).querySelector("[data-sends=find]"), "scope:find"),
    back(button) {
      const root = rootOf(button);
      flatOf(root).replaceChildren();
      root.querySelector("[data-tree]").hidden = false;
      root.querySelector("[data-sends=find]").value = "";
      root.querySelector("[data-tree] [data-opens]").focus();
    },
    discard(button) {
      const root = rootOf(button);
      const name = root.dataset.root;
      if (stores.get(name).sending) return;
      stores.set(name, fresh());
      root.querySelector("[data-version]").value = document.getElementById(`state-${name}`).dataset.stored;
      messageOf(root).replaceChildren();
      paint(name);
      announce(`${words.discarded} ${summary(name, "")}`);
    },
    clear(button) {
      const name = rootOf(button).dataset.root;
      const store = stores.get(name);
      const state = document.getElementById(`state-${name}`);
      store.add.clear();
      store.remove.clear();
      store.clear = Number(state.dataset.saved) > 0 || state.dataset.restricted === "1";
      paint(name);
      announce(`${store.clear ? words.cleared : ""} ${summary(name, "")}`.trim());
    },
  };
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const does = button && Object.keys(pressed).find((one) => one in button.dataset);
    if (!does) return;
    event.preventDefault();
    pressed[does](button);
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.value !== "refresh") return;
    event.preventDefault();
    const active = document.activeElement;
    if (active.matches?.("[data-sends=find]")) htmx.trigger(active, "scope:find");
  });
  window.addEventListener("beforeunload", (event) => {
    if ([...stores.values()].some(isDirty)) event.preventDefault();
  });

  for (const root of document.querySelectorAll("[data-root]")) {
    restore(root.dataset.root);
    paint(root.dataset.root);
  }
  form.dataset.ready = "";
})();
