// Says in words what happens to a search sent by htmx; without a script the form is an ordinary GET.
"use strict";
const words = JSON.parse(document.getElementById("search-words").textContent);
const plural = new Intl.PluralRules(document.documentElement.lang || "en");
const say = (text) => { document.getElementById("search-state").textContent = text; };
document.addEventListener("htmx:beforeRequest", () => say(words.searching));
document.addEventListener("htmx:afterSettle", () => {
  const count = document.querySelectorAll(".found__result").length;
  say(document.getElementById("answer-heading") ? words.results[plural.select(count)].replace("{n}", count) : "");
});
document.addEventListener("htmx:responseError", (event) => {
  const signedOut = event.detail.xhr.status === 401;
  say(signedOut ? event.detail.xhr.responseText : words.failed);
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, () => say(words.away));
}
