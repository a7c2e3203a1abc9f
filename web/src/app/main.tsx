import { begin } from "./host/begin";
import { loaded } from "./parts/loaded";
import { parseRoute } from "./route";
import { applyTheme } from "./theme/theme";
import "./theme/tokens.css";
import "./theme/coming.css";

// The browser's key is read and the connection made while the rest is loaded and read, which
// takes about as long.
applyTheme();
begin();
loaded(() => import("./boot")).catch((e) => {
  console.error(e);
  document.body.textContent = /^zh/i.test(navigator.language)
    ? "页面没有完整地从主机传来。请重新加载，或检查主机是否仍在运行。"
    : "The page did not come whole from its host. Reload it, or check that the host still runs.";
});
// What is seen first is asked for now, and not only when there is a place for it.
const { at } = parseRoute(location.hash);
const early = at === "session" ? import("./shell/SessionRoom") : at !== "panel" ? import("./places/NewSession") : undefined;
early?.catch(() => {}); // its place asks again
