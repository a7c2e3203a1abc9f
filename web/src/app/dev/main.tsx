/**
 * The page of all components in every state, for development: `npm run dev`, then /dev.html. It is
 * no part of what the host serves. A room adds a file with its states, and a line to sections.
 */
import { setNonce } from "get-nonce";
import { type ComponentType, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { Button, Tips } from "../parts/controls";
import { applyTheme } from "../theme/theme";
import { language, setLanguage } from "../words/index";
import { textStates } from "./text";
import { Hostile, HostileDiagram } from "./hostile";
import "../theme/tokens.css";
import "../theme/base.css";
import "./dev.css";

/** What a room shows: its states by name, each a component without props. */
export type States = Record<string, ComponentType>;

const sections: Record<string, States> = { text: textStates };

/** The fragment: "text/code" is one state, "text" all of a room, "hostile/12" a sample of hostile text, "diagram/12" of a hostile diagram. */
function useFragment(): string[] {
  const hash = useSyncExternalStore(
    (l) => {
      addEventListener("hashchange", l);
      return () => removeEventListener("hashchange", l);
    },
    () => location.hash,
  );
  return decodeURIComponent(hash.slice(1)).split("/");
}

function Dev() {
  const [section = "", state = ""] = useFragment();
  if (section === "hostile") return <Hostile index={Number(state)} />;
  if (section === "diagram") return <HostileDiagram index={Number(state)} />;
  return (
    <div className="dev">
      <header>
        <h1>Components</h1>
        {Object.entries(sections).map(([name, states]) => (
          <nav key={name} aria-label={name}>
            <a href={`#${name}`}>{name}</a>
            {Object.keys(states).map((s) => (
              <a key={s} href={`#${name}/${s}`}>
                {s}
              </a>
            ))}
          </nav>
        ))}
        <Button small onClick={() => setTheme({ theme: "light" })}>
          Light
        </Button>
        <Button small onClick={() => setTheme({ theme: "dark" })}>
          Dark
        </Button>
        <Button small onClick={() => setTheme({ contrast: document.documentElement.dataset.contrast ? "" : "more" })}>
          Contrast
        </Button>
        <Button small onClick={() => setLanguage(language() === "en" ? "zh" : "en")}>
          English / 中文
        </Button>
      </header>
      <main>
        {Object.entries(sections)
          .filter(([name]) => section === "" || name === section)
          .flatMap(([name, states]) => Object.entries(states).map(([title, View]) => ({ key: `${name}/${title}`, title, View })))
          .filter(({ title }) => state === "" || title === state)
          .map(({ key, title, View }) => (
            <section key={key} aria-label={key}>
              <h2>{title}</h2>
              <View />
            </section>
          ))}
      </main>
    </div>
  );
}

function setTheme(next: { theme?: string; contrast?: string }): void {
  for (const [name, value] of Object.entries(next)) {
    if (value) document.documentElement.dataset[name] = value;
    else delete document.documentElement.dataset[name];
  }
}

setNonce(document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "");
applyTheme();
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <Tips>
      <Dev />
    </Tips>,
  );
