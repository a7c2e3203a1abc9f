import { createRoot } from "react-dom/client";
import { setNonce } from "get-nonce";
import { App } from "./App";
import { applyTheme } from "./theme/theme";
import "./theme/tokens.css";
import "./theme/base.css";

// The one library that makes a style element needs the nonce of the document.
setNonce(document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "");
applyTheme();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
