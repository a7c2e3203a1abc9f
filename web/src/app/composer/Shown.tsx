import { cleanLine } from "../../display/index";
import type { UIState } from "../../protocol/index";
import { useLive } from "../host/context";
import { useWords } from "../words/index";
import { composerWords } from "./words";

/** The most lines that extensions have above or below the message box, and words. */
const mostLines = 10;
const mostWords = 8;

/** What extensions show above or below the message box, and, below it, in a word. */
export function Shown({ place }: { place: "above" | "below" }) {
  const w = useWords(composerWords);
  const states = useLive((l) => l.uiStates);
  const at = (p: string) => states?.filter((s) => s.place === p) ?? [];
  const lines = at(place).flatMap((s) => s.lines ?? []);
  const words = place === "below" ? at("status").map(wordOf).filter(Boolean) : [];
  if (lines.length === 0 && words.length === 0) return null;
  return (
    <div className="shown">
      {lines.length > 0 && <pre>{lines.slice(0, mostLines).map((l) => `${cleanLine(l)}\n`)}</pre>}
      {lines.length > mostLines && <p className="t3">{w.moreShown(lines.length - mostLines)}</p>}
      {words.length > 0 && <p className="t3 trunc">{words.slice(0, mostWords).join(" · ")}</p>}
    </div>
  );
}

function wordOf(s: UIState): string {
  return cleanLine(s.lines?.[0] ?? "").trim();
}
