import { begin } from "./host/begin";
import { parseRoute } from "./route";
import { applyTheme } from "./theme/theme";
import "./theme/tokens.css";

// The browser's key is read and the connection made while the rest is loaded and read, which
// takes about as long.
applyTheme();
begin();
void import("./boot");
// What is seen first is asked for now, and not only when there is a place for it.
const { at } = parseRoute(location.hash);
if (at === "session") void import("./shell/SessionRoom");
else if (at !== "panel") void import("./places/NewSession");
