import { type ReactNode, useEffect, useState } from "react";
import { loaded } from "../parts/loaded";
import { useWords } from "../words/index";
import { safeText } from "./safe";
import { Scroller } from "./Scroller";
import { textWords } from "./words";

type Draw = (source: string, display: boolean) => ReactNode | undefined;
let draw: Draw | undefined;

/** A formula in TeX, as MathML. What is no formula, and all of them until their part of the page is loaded, is shown as its source. */
export function Formula({ source, display }: { source: string; display: boolean }) {
  const w = useWords(textWords);
  const [ready, setReady] = useState(draw !== undefined);
  useEffect(() => {
    if (ready) return;
    let off = false;
    loaded(() => import("./tex")).then(
      (m) => {
        draw = m.drawTex;
        if (!off) setReady(true);
      },
      () => {}, // the source is shown
    );
    return () => {
      off = true;
    };
  }, [ready]);
  const drawn = (ready && draw?.(source, display)) || <code>{safeText(source)}</code>;
  if (!display) return <span className="formula">{drawn}</span>;
  return (
    <Scroller name={w.formula} className="formula display">
      <div>{drawn}</div>
    </Scroller>
  );
}
