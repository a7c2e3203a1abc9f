import type { TreeRow } from "./layout";

/** How far from each other the branches are, in pixels. */
const step = 16;

/** Room for the lines of branches that are so deep; deeper ones are drawn at the last. */
export function tracksWidth(depth: number, most: number): number {
  return 22 + step * Math.min(depth, most);
}

/** The lines of the branches beside a row, and its mark. */
export function Tracks({
  row,
  most,
  width,
  height,
  here,
  active,
}: {
  row: TreeRow;
  most: number;
  width: number;
  height: number;
  here: boolean;
  active: boolean;
}) {
  const x = (depth: number) => 10 + step * Math.min(depth, most);
  const mid = height / 2;
  const own = x(row.depth);
  const { node } = row;
  const passes: number[] = [];
  for (let d = 0; d < Math.min(row.depth, most); d++) if (row.rails & (1 << d)) passes.push(d);
  const lit = (depth: number) => (depth === 0 && row.railActive ? "nw" : "");
  const from = x(row.depth - 1);
  return (
    <svg className="g" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      {row.head && row.up && from !== own && <path d={`M${from} ${row.tail ? 0 : mid - 8}V${mid - 8}a8 8 0 0 0 8 8H${own}`} />}
      {passes.map((d) => (
        <path key={d} className={lit(d)} d={`M${x(d)} 0V${height}`} />
      ))}
      {!row.head && row.up && <path className={active ? "nw" : ""} d={`M${own} 0V${mid}`} />}
      {row.down && <path className={active && !here ? "nw" : ""} d={`M${own} ${mid}V${height}`} />}
      {node.kind === "mark" ? (
        <path d={`M${own - 6} ${mid - 1.5}H${own + 6}M${own - 6} ${mid + 1.5}H${own + 6}`} />
      ) : node.failed ? (
        <path className="nx" d={`M${own - 4} ${mid - 4}l8 8M${own + 4} ${mid - 4}l-8 8`} />
      ) : (
        <circle
          className={here ? "now" : node.kind === "said" ? "u" : "d"}
          cx={own}
          cy={mid}
          r={node.kind === "said" ? 5 : here ? 4.5 : 3.5}
        />
      )}
    </svg>
  );
}
