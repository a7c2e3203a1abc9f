// Asks for the page again where its way here broke before its first part had come, which nothing
// else of it can do: the browser asks anew for what has failed, and for nothing that is there.
const entry = document.querySelector("script[type=module]").src;
const waits = [2000, 4000, 8000, 16000]; // milliseconds
(function again(n) {
  if (n < waits.length) setTimeout(() => import(entry).catch(() => again(n + 1)), waits[n]);
})(0);
