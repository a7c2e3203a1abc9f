import { type RefObject, useEffect, useState } from "react";
import type { EventID } from "../../protocol/index";
import { safeText } from "../text/safe";
import { useWords } from "../words/index";
import type { Row } from "./rows";
import { conversationWords } from "./words";

/** What was asked in the turn that is being read, while the message itself is above what is seen. */
export function TurnHead({ box, rows }: { box: RefObject<HTMLElement | null>; rows: readonly Row[] }) {
  const w = useWords(conversationWords);
  const [event, setEvent] = useState<EventID>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are another place
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      setEvent(above(el));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    soon();
    el.addEventListener("scroll", soon, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      el.removeEventListener("scroll", soon);
    };
  }, [box, rows]);
  const row = event && rows.find((r) => r.kind === "said" && r.event === event);
  if (row?.kind !== "said") return null;
  const text = safeText(row.text.trim().split("\n")[0] ?? "");
  return (
    <div className="turnhead">
      {/* Not in the order of Tab, where it would come and go with the scrolling; headings lead there. */}
      <button
        type="button"
        tabIndex={-1}
        title={w.upToMessage(text)}
        onClick={() => document.getElementById(`e-${row.event}`)?.scrollIntoView({ block: "start" })}
      >
        <span className="trunc">{text}</span>
      </button>
    </div>
  );
}

/** The newest message of a person whose end is above what is seen; none while the next one is where the head would be. */
function above(box: HTMLElement): EventID | undefined {
  const said = box.querySelectorAll<HTMLElement>(".bar:has(> .cell > .said)");
  const top = box.getBoundingClientRect().top;
  let low = 0;
  let high = said.length; // the first that is not above
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((said[middle] as HTMLElement).getBoundingClientRect().top < top) low = middle + 1;
    else high = middle;
  }
  const last = said[low - 1];
  const room = Number.parseFloat(getComputedStyle(box).scrollPaddingTop) - 1; // rounded otherwise on some screens
  if (low < said.length && (said[low] as HTMLElement).getBoundingClientRect().top < top + room) return undefined;
  return last && last.getBoundingClientRect().bottom <= top + 4 ? (last.id.slice(2) as EventID) : undefined;
}
