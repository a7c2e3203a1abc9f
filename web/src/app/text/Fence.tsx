import { type ComponentType, useEffect, useState } from "react";
import { loaded } from "../parts/loaded";
import { useWords } from "../words/index";
import { Code } from "./Code";
import { safeText } from "./safe";
import { textWords } from "./words";

type Drawing = ComponentType<{ text: string }>;
let Diagram: Drawing | undefined;

/** Code between fences, or the diagram that it describes, once it is complete. */
export function Fence({ text, language, live }: { text: string; language: string; live: boolean }) {
  return !live && /^mermaid$/i.test(language) ? <DiagramOf text={text} /> : <Code text={text} language={language} live={live} copy />;
}

/** A diagram; its source until the part of the page that draws it is loaded, and when it does not load. */
function DiagramOf({ text }: { text: string }) {
  const w = useWords(textWords);
  const [state, setState] = useState<"loading" | "ready" | "failed">(Diagram ? "ready" : "loading");
  useEffect(() => {
    if (Diagram) return;
    let off = false;
    loaded(() => import("../diagram/Diagram")).then(
      (m) => {
        Diagram = m.default;
        if (!off) setState("ready");
      },
      () => {
        if (!off) setState("failed");
      },
    );
    return () => {
      off = true;
    };
  }, []);
  if (state === "ready" && Diagram) return <Diagram text={safeText(text)} />;
  return <Code text={text} language="mermaid" copy {...(state === "failed" ? { caption: w.diagram } : {})} />;
}
