/** The charts of the panels: SVG with attributes alone, labels beside what they name, a table behind "Show numbers". */
import { type ReactNode, useId } from "react";
import { useWords } from "../words/index";
import { panelWords } from "./words";

/** The ink steps of the design, darkest first. */
export const inks = ["c1", "c2", "c3", "c4", "c5"] as const;

/** The rows of a chart as a table, folded. */
export function Numbers({ head, rows, label }: { head: readonly string[]; rows: readonly (readonly string[])[]; label: string }) {
  const w = useWords(panelWords);
  return (
    <details className="numbers">
      <summary>{w.numbers}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div className="wide" tabIndex={0} role="group" aria-label={label}>
        <table className="tbl">
          <thead>
            <tr>
              {head.map((h, i) => (
                <th key={h} scope="col" className={i > 0 ? "r" : ""}>
                  {h}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((r, n) => (
              <tr key={n}>
                {r.map((c, i) => (
                  <td key={i} className={i > 0 ? "r" : ""}>
                    {c}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

export interface BarPart {
  name: string;
  value: number;
}

/** What hatches the ink steps where contrast is high: colours alone are then too close to each other. */
function Patterns({ id }: { id: string }) {
  const lines = ["", "M0 6L6 0", "M0 3H6", "M3 0V6M0 3H6", "M3 2V4"];
  return (
    <defs>
      {lines.map((d, i) => (
        <pattern key={inks[i]} id={`${id}-${i}`} width="6" height="6" patternUnits="userSpaceOnUse">
          <path d={d} fill="none" stroke="var(--surface-page)" strokeWidth="1.5" />
        </pattern>
      ))}
    </defs>
  );
}

/** Parts of a whole as one bar; to is where something begins that is kept free, as a line. */
export function StackedBar({ parts, whole, mark, label }: { parts: readonly BarPart[]; whole: number; mark?: number; label: string }) {
  const id = useId();
  const width = 280;
  let x = 0;
  const drawn = parts.map((p, i) => {
    const size = whole > 0 ? Math.min((p.value / whole) * width, width - x) : 0;
    const at = { x, width: Math.max(size - 1, size > 0 ? 0.75 : 0), ink: inks[i % inks.length], name: p.name, i };
    x += size;
    return at;
  });
  return (
    <svg className="ctx" viewBox={`0 0 ${width} 14`} preserveAspectRatio="none" role="img" aria-label={label}>
      <Patterns id={id} />
      <rect className="cfree" x="0" y="0" width={width} height="14" rx="2" />
      {drawn.map((p) => (
        <g key={p.name}>
          <rect className={p.ink} x={p.x} width={p.width} height="14" />
          <rect className="hatch" x={p.x} width={p.width} height="14" fill={`url(#${id}-${p.i % inks.length})`} />
        </g>
      ))}
      {mark !== undefined && mark > 0 && mark < whole && <path className="due" d={`M${(mark / whole) * width} 0V14`} />}
    </svg>
  );
}

/** The square of a part in a legend. */
export function Swatch({ of }: { of: number }) {
  const id = useId();
  return (
    <svg viewBox="0 0 8 8" aria-hidden="true">
      <Patterns id={id} />
      <rect className={inks[of % inks.length]} width="8" height="8" rx="1.5" />
      <rect className="hatch" width="8" height="8" rx="1.5" fill={`url(#${id}-${of % inks.length})`} />
    </svg>
  );
}

export interface Step {
  at: number;
  value: number;
}

/** The smallest round number that is not below n: 1, 2 or 5 with zeros. */
export function roundUp(n: number): number {
  if (!(n > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((m) => m * ten >= n * (1 - 1e-9)) ?? 10) * ten;
}

/** A value that only steps up, over its steps in equal widths; the last one is now. */
export function StepLine({
  steps,
  label,
  tick,
  from,
  to,
}: {
  steps: readonly Step[];
  label: string;
  tick(value: number): string;
  from: ReactNode;
  to: ReactNode;
}) {
  const high = roundUp(steps.at(-1)?.value ?? 0);
  const [right, bottom] = [238, 64];
  const each = right / Math.max(steps.length, 1);
  const y = (v: number) => (bottom - (Math.min(v, high) / high) * bottom).toFixed(1);
  const line = steps.map((s, i) => `${i === 0 ? "M0" : `H${(i * each).toFixed(1)}V`}${i === 0 ? ` ${y(s.value)}` : y(s.value)}`).join("");
  const path = `${line}H${right - 4}`;
  return (
    <svg className="chart" viewBox="0 0 280 84" role="img" aria-label={label}>
      <path className="gr" d="M0 .5H240M0 32.5H240M0 64.5H240" />
      <text x="280" y="4" textAnchor="end">
        {tick(high)}
      </text>
      <text x="280" y="36" textAnchor="end">
        {tick(high / 2)}
      </text>
      <text x="280" y="68" textAnchor="end">
        0
      </text>
      <path className="ar" d={`${path}V64H0Z`} />
      <path className="ln" d={path} />
      <circle className="pt" cx={right - 4} cy={y(steps.at(-1)?.value ?? 0)} r="4.5" />
      <text x="0" y="82">
        {from}
      </text>
      <text x={right - 4} y="82" textAnchor="end">
        {to}
      </text>
    </svg>
  );
}
