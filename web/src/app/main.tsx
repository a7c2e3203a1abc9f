import { begin } from "./host/begin";
import { followNotifications } from "./notices/lead";
import { parseRoute } from "./route";
import { applyTheme } from "./theme/theme";
import "./theme/tokens.css";
import "./theme/coming.css";

// The browser's key is read and the connection made while the rest is loaded and read, which
// takes about as long.
applyTheme();
followNotifications();
begin();
// When it does not come, public/again.js loads the page again.
const begun = import("./boot");
begun.catch(() => {});
Object.assign(window, { begun });
// What is seen first is asked for now, and not only when there is a place for it.
const { at } = parseRoute(location.hash);
const early = at === "session" ? import("./shell/SessionRoom") : at !== "panel" ? import("./places/NewSession") : undefined;
early?.catch(() => {}); // its place asks again
