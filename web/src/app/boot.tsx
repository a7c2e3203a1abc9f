import { createRoot } from "react-dom/client";
import { setNonce } from "get-nonce";
import { App } from "./App";
import { kept } from "./host/kept";
import { languages, setLanguage } from "./words/index";
import "./theme/base.css";

// The one library that makes a style element needs the nonce of the document.
setNonce(document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "");
setLanguage(languages.find((l) => l === kept("language")));
const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
