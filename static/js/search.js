// Says in words what happens to a search sent by htmx; without a script the form is an ordinary GET.
"use strict";
const say = (words) => { document.getElementById("search-state").textContent = words; };
document.addEventListener("htmx:beforeRequest", () => say("Searching …"));
document.addEventListener("htmx:afterSettle", () => {
  const count = document.querySelectorAll(".found__result").length;
  say(document.getElementById("answer-heading") ? `${count} ${count === 1 ? "result" : "results"}` : "");
});
document.addEventListener("htmx:responseError", (event) => {
  const signedOut = event.detail.xhr.status === 401;
  say(signedOut ? event.detail.xhr.responseText : "The search failed. Try again.");
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, () => say("The server did not answer. Try again."));
}
