import { useEffect, useRef } from "react";
import { ErrorLine } from "../parts/ErrorLine";
import { announce } from "../parts/tell";
import { useWords } from "../words/index";
import type { Completion } from "./useCompletion";
import { composerWords } from "./words";

/** The list above the box: what can be typed at the cursor. The keys are those of the box, which keeps the focus. */
export function Offers({ completion, onPick }: { completion: Completion; onPick(i: number): void }) {
  const w = useWords(composerWords);
  const list = useRef<HTMLUListElement>(null);
  const { offers, on, error, token } = completion;
  const open = offers.length > 0;
  useEffect(() => {
    if (open) announce(w.offeredKeys);
  }, [open, w]);
  useEffect(() => {
    list.current?.children[on]?.scrollIntoView({ block: "nearest" });
  }, [on]);
  if (!token || (!open && !error)) return null;
  return (
    <div className="offers">
      {error && (
        <div className="menu">
          <ErrorLine error={error} />
        </div>
      )}
      {open && (
        <ul ref={list} id="offers" className="menu" role="listbox" aria-label={w.offered}>
          {offers.map((o, i) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the box keeps the focus and names the option that is on
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the box
            <li
              key={o.value}
              id={`offer-${i}`}
              role="option"
              aria-selected={i === on}
              className={i === on ? "mi on" : "mi"}
              onPointerDown={keepFocus}
              onMouseDown={keepFocus}
              onClick={() => onPick(i)}
            >
              <span className="mono trunc label">
                {o.label} {o.hint && <span className="t3">{o.hint}</span>}
              </span>
              {o.about && <span className="t2 trunc about">{o.about}</span>}
              {o.from && <span className="t3 from">{o.from}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function keepFocus(e: { preventDefault(): void }): void {
  e.preventDefault();
}
