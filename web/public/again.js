// Loads the page again where its way here broke before its first parts had come. Nothing of it is
// there to do that, and a browser may remember that a module did not come for as long as the page
// is open. Where that has been tried often enough, it says so.
const entry = document.querySelector("script[type=module]").src;
const waits = [1000, 2000, 4000, 8000]; // milliseconds
let tried = waits.length; // without storage nothing counts, so nothing is tried
try {
  tried = Number(sessionStorage.getItem("scorel.again") ?? 0);
} catch {}
import(entry).then(() => window.begun).then(
  () => tried < waits.length && sessionStorage.removeItem("scorel.again"),
  (e) => {
    if (tried < waits.length) {
      setTimeout(() => {
        sessionStorage.setItem("scorel.again", String(tried + 1));
        location.reload();
      }, waits[tried]);
      return;
    }
    console.error(e);
    try {
      sessionStorage.removeItem("scorel.again");
    } catch {}
    document.body.textContent = /^zh/i.test(navigator.language)
      ? "页面没有完整地从主机传来。请重新加载，或检查主机是否仍在运行。"
      : "The page did not come whole from its host. Reload it, or check that the host still runs.";
  },
);
