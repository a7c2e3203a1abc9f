import { memo } from "react";
import { count } from "../words/format";
import { useWords } from "../words/index";
import { lines } from "./ansi";
import { textWords } from "./words";
import "./text.css";

/** What a program has printed, with its colours. */
export const Terminal = memo(function Terminal({ text, running }: { text: string; running?: boolean }) {
  const w = useWords(textWords);
  const { lines: shown, omitted } = lines(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard
    <div className="term" tabIndex={0} role="group">
      {omitted > 0 && <p className="t3">{w.more(count(omitted))}</p>}
      <pre>
        {shown.map((runs, i) => (
          <span key={i} className="tline">
            {runs.map((r, k) => (
              <span key={k} className={[r.color >= 0 && `t-${r.color}`, r.bold && "t-b"].filter(Boolean).join(" ") || undefined}>
                {r.text}
              </span>
            ))}
            {"\n"}
          </span>
        ))}
        {running && <span className="cursor" aria-hidden="true" />}
      </pre>
    </div>
  );
});
