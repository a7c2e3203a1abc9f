import { duration } from "../words/format";
import { useWords } from "../words/index";
import { conversationWords } from "./words";

/** A stretch of time, in Unix milliseconds. */
export interface Span {
  from: number;
  to: number;
}

/** The width of a lane, and of the shortest note in it, in pixels. */
const width = 104;
const least = 4;

/** When in its turn something was: a note on a line that is as long as the turn. */
export function Lane({ of, within, look = "" }: { of: Span; within: Span; look?: "" | "bad" | "now" }) {
  const w = useWords(conversationWords);
  const whole = Math.max(1, within.to - within.from);
  const share = (at: number) => Math.min(1, Math.max(0, (at - within.from) / whole)) * width;
  const x = Math.min(width - least, share(of.from));
  const end = Math.max(x + least, share(of.to));
  return (
    <span
      className="lane"
      aria-hidden="true"
      title={w.lane(duration(Math.max(0, of.from - within.from)), duration(Math.max(0, of.to - of.from)), duration(whole))}
    >
      <svg viewBox={`0 0 ${width} 12`} aria-hidden="true">
        <path className="staff" d={`M0 6.5H${width}`} />
        <rect className={`nt ${look}`} x={x.toFixed(1)} y="3.5" width={(end - x).toFixed(1)} height="6" rx="3" />
      </svg>
    </span>
  );
}
