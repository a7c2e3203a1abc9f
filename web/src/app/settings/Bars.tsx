/** The charts of usage: SVG with attributes alone, labels beside what they name; the numbers are in a table below each. */
import { dateShort } from "../words/format";

/** The smallest round number that is not below n: 1, 2 or 5 with zeros. */
export function roundUp(n: number): number {
  if (!(n > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((m) => m * ten >= n * (1 - 1e-9)) ?? 10) * ten;
}

const plot = { width: 600, height: 120 };

/** A bar for each day, today's in amber, with three ticks at the right. Labels are texts of the page, so that they never shrink. */
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
  const each = plot.width / Math.max(1, days.length);
  const first = days[0];
  return (
    <figure className="bars">
      <svg viewBox={`0 0 ${plot.width} ${plot.height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path
          className="gr"
          vectorEffect="non-scaling-stroke"
          d={`M0 .5H${plot.width}M0 ${plot.height / 2}H${plot.width}M0 ${plot.height - 0.5}H${plot.width}`}
        />
        {days.map((d, i) => {
          const h = d.value > 0 ? Math.max(1, (d.value / high) * plot.height) : 0;
          return (
            <rect
              key={d.day}
              className={i === days.length - 1 ? "b now" : "b"}
              x={i * each}
              y={plot.height - h}
              width={Math.max(1, each - 2)}
              height={h}
            />
          );
        })}
      </svg>
      <span className="ticks" aria-hidden="true">
        {[high, high / 2, 0].map((n) => (
          <span key={n}>{tick(n)}</span>
        ))}
      </span>
      <span className="ends" aria-hidden="true">
        <span>{first && dateShort(first.day)}</span>
        <span>{today}</span>
      </span>
    </figure>
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
