import { cleanLine } from "../../display/index";
import { useWords } from "../words/index";
import { fileWords } from "./filewords";
import { type PatchLine, patchLines } from "./patch";

/** The lines of a difference that are drawn. */
const maxLines = 1500;

const looks: Record<PatchLine["kind"], [look: string, mark: string]> = {
  same: ["dl", " "],
  add: ["dl a", "+"],
  del: ["dl d", "-"],
  hunk: ["dl h", ""],
};

/** A unified diff of one file, in rows. */
export function Patch({ diff, path }: { diff: string; path: string }) {
  const w = useWords(fileWords);
  const lines = patchLines(diff);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div className="diff patch" tabIndex={0} role="region" aria-label={w.diffOf(path)}>
        {lines.slice(0, maxLines).map((l, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no names of their own
          <div key={i} className={looks[l.kind][0]}>
            <span>{l.old ?? ""}</span>
            <span>{l.now ?? ""}</span>
            <span>{looks[l.kind][1]}</span>
            <span>{l.kind === "hunk" ? l.text : cleanLine(l.text.replaceAll("\t", "    ")) || " "}</span>
          </div>
        ))}
      </div>
      {lines.length > maxLines && <p className="quiet">{w.moreLines(lines.length - maxLines)}</p>}
    </>
  );
}
