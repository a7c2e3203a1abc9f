import { X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useSession } from "../host/context";
import { IconButton } from "../parts/controls";
import { go } from "../route";
import { shellWords } from "../shell/words";
import { useLanguage, useWords } from "../words/index";
import { panels } from "./index";
import "./panels.css";

/** The panels beside a conversation or over it, as tabs; open names the one that the address asks for. */
export function SessionPanels({ open, covers, onClose }: { open?: string | undefined; covers: boolean; onClose(): void }) {
  const w = useWords(shellWords);
  const language = useLanguage();
  const { sessionId } = useSession();
  const own = panels.filter((p) => p.place === "session");
  const current = own.find((p) => p.id === open) ?? own[0];
  const id = current?.id;
  useEffect(() => {
    if (id) document.getElementById(`tab-${id}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [id]);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    if (!covers) return;
    const press = (e: globalThis.KeyboardEvent) => {
      if (e.key !== "Escape" || e.defaultPrevented || e.isComposing) return;
      if (e.target instanceof Element && e.target.closest(".sheet")) return; // a question, which takes it
      e.preventDefault();
      close.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [covers]);
  if (!current) return null;
  const show = (panel: string) => go({ at: "session", id: sessionId, panel }, { replace: true });
  /** The arrows go from tab to tab, and show what they come to. */
  const keys = (e: KeyboardEvent) => {
    const at = own.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + own.length, Home: 0, End: own.length - 1 }[e.key];
    const next = to === undefined ? undefined : own[to % own.length];
    if (!next) return;
    e.preventDefault();
    show(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <aside className="side" aria-label={w.panels}>
      <div className="tabs">
        <div className="tablist" role="tablist" aria-label={w.panels} onKeyDown={keys}>
          {own.map((p) => (
            <button
              key={p.id}
              type="button"
              role="tab"
              id={`tab-${p.id}`}
              aria-selected={p === current}
              aria-controls="panel"
              tabIndex={p === current ? 0 : -1}
              className={p === current ? "on" : ""}
              onClick={() => show(p.id)}
            >
              {p.title[language]}
            </button>
          ))}
        </div>
        <IconButton of={X} name={w.hidePanel} keys={covers ? "Esc" : ""} onClick={onClose} />
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${current.id}`} className="panelbody">
        <current.View />
      </div>
    </aside>
  );
}
