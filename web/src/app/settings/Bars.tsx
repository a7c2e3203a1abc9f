/** The charts of usage: SVG with attributes alone, labels beside what they name; the numbers are in a table below each. */
import { dateShort } from "../words/format";

/** The smallest round number that is not below n: 1, 2 or 5 with zeros. */
export function roundUp(n: number): number {
  if (!(n > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((m) => m * ten >= n * (1 - 1e-9)) ?? 10) * ten;
}

const width = 640;
const plot = { right: 580, bottom: 120 };

/** A bar for each day, today's in amber, with three ticks at the right. */
export function DayBars({
  days,
  tick,
  label,
  today,
}: {
  days: readonly { day: number; value: number }[];
  tick(n: number): string;
  label: string;
  today: string;
}) {
  const high = roundUp(Math.max(0, ...days.map((d) => d.value)));
  const each = plot.right / Math.max(1, days.length);
  const first = days[0];
  return (
    <svg className="bars" viewBox={`0 0 ${width} 146`} role="img" aria-label={label}>
      <path className="gr" d={`M0 .5H${plot.right}M0 ${plot.bottom / 2}.5H${plot.right}M0 ${plot.bottom}.5H${plot.right}`} />
      {[high, high / 2, 0].map((n, i) => (
        <text key={n} x={width} y={Math.max(9, (i * plot.bottom) / 2 + 4)} textAnchor="end">
          {tick(n)}
        </text>
      ))}
      {days.map((d, i) => {
        const h = d.value > 0 ? Math.max(1, (d.value / high) * plot.bottom) : 0;
        return (
          <rect
            key={d.day}
            className={i === days.length - 1 ? "b now" : "b"}
            x={i * each}
            y={plot.bottom - h}
            width={Math.max(1, each - 1)}
            height={h}
          />
        );
      })}
      {first && (
        <text x="0" y="140">
          {dateShort(first.day)}
        </text>
      )}
      <text x={plot.right} y="140" textAnchor="end">
        {today}
      </text>
    </svg>
  );
}

/** A row for each name: its bar below it, its value at the right. */
export function Bars({
  rows,
  tick,
  label,
}: {
  rows: readonly { id: string; name: string; value: number }[];
  tick(n: number): string;
  label: string;
}) {
  const high = Math.max(0, ...rows.map((r) => r.value));
  return (
    <ul className="barlist" aria-label={label}>
      {rows.map((r) => (
        <li key={r.id}>
          <span className="trunc">{r.name}</span>
          <span className="num">{tick(r.value)}</span>
          <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
            <rect className="track" width="100" height="6" />
            <rect className="b" width={high > 0 ? (r.value / high) * 100 : 0} height="6" />
          </svg>
        </li>
      ))}
    </ul>
  );
}
