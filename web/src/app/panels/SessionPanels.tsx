import { X } from "lucide-react";
import { Suspense } from "react";
import { useSession } from "../host/context";
import { IconButton } from "../parts/controls";
import { go } from "../route";
import { shellWords } from "../shell/words";
import { useLanguage, useWords } from "../words/index";
import { panels } from "./index";
import "./panels.css";

/** The panels beside a conversation, as tabs; open names the one that the address asks for. */
export function SessionPanels({ open, onClose }: { open?: string | undefined; onClose(): void }) {
  const w = useWords(shellWords);
  const language = useLanguage();
  const { sessionId } = useSession();
  const own = panels.filter((p) => p.place === "session");
  const current = own.find((p) => p.id === open) ?? own[0];
  if (!current) return null;
  return (
    <aside className="side" aria-label={w.panels}>
      <div className="tabs">
        <div className="tablist" role="tablist" aria-label={w.panels}>
          {own.map((p) => (
            <button
              key={p.id}
              type="button"
              role="tab"
              id={`tab-${p.id}`}
              aria-selected={p === current}
              aria-controls="panel"
              className={p === current ? "on" : ""}
              onClick={() => go({ at: "session", id: sessionId, panel: p.id }, { replace: true })}
            >
              {p.title[language]}
            </button>
          ))}
        </div>
        <IconButton
          of={X}
          name={w.hidePanel}
          onClick={() => {
            onClose();
            go({ at: "session", id: sessionId }, { replace: true });
          }}
        />
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${current.id}`} className="panelbody">
        <Suspense fallback={null}>
          <current.View />
        </Suspense>
      </div>
    </aside>
  );
}
