/** The session as a score: a stave for each branch, a head for each step, the current branch lit. */
import { useEffect, useMemo, useRef } from "react";
import { time } from "../words/format";
import type { TreeNode } from "./nodes";

/** What the score has room for: the newest nodes, staves, heads of an answer. */
const maxScored = 240;
const maxStaves = 4;
const maxHeads = 6;
const gap = 26;
const headGap = 20;
const stave = 36;
const top = 22.5;
/** The widest page, in pixels. */
const wide = 4000;

interface Placed {
  node: TreeNode;
  x: number;
  /** Where its last head is. */
  end: number;
  y: number;
}

/** Where the nodes are: each after its parent, on the stave of its lane. What finds no stave is left out. */
export function place(nodes: readonly TreeNode[]): { all: Placed[]; of: Map<TreeNode, Placed>; width: number; staves: number } {
  const of = new Map<TreeNode, Placed>();
  const staveOf = new Map<number, number>();
  const ends: number[] = []; // of staves
  let width = 0;
  for (const node of nodes.slice(-maxScored)) {
    const parent = node.parent && of.get(node.parent);
    let x = parent ? parent.end + gap : 24;
    let at = staveOf.get(node.lane);
    if (at === undefined) {
      x += parent ? 14 : 0;
      // A stave of its own, as long as there are some; then one on which nothing is any more.
      at = ends.length < maxStaves ? ends.length : ends.findIndex((end) => end + gap < x);
      if (at < 0) continue;
      staveOf.set(node.lane, at);
    }
    const end = x + headGap * (headsOf(node) - 1);
    of.set(node, { node, x, end, y: top + stave * at });
    ends[at] = Math.max(ends[at] ?? 0, end);
    width = Math.max(width, end);
  }
  return { all: [...of.values()], of, width, staves: ends.length };
}

function headsOf(node: TreeNode): number {
  return node.kind === "answer" ? Math.max(1, Math.min(maxHeads, node.steps)) : 1;
}

export function Score({
  nodes,
  version,
  active,
  here,
  names,
  label,
  hereWord,
}: {
  nodes: readonly TreeNode[];
  version: number;
  active: ReadonlySet<TreeNode>;
  here: TreeNode | undefined;
  names: ReadonlyMap<TreeNode, { name: string }>;
  label: string;
  hereWord: string;
}) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the nodes change in place with version
  const { all, of, width, staves } = useMemo(() => place(nodes), [nodes, version]);
  const box = useRef<HTMLDivElement>(null);
  const at = here && of.get(here)?.end;
  useEffect(() => {
    // Where the conversation is, is seen.
    if (box.current && at !== undefined) box.current.scrollLeft = at - box.current.clientWidth * 0.7;
  }, [at]);
  if (staves < 2) return null; // of one branch it says nothing
  const height = top + stave * (staves - 1) + 34;
  const full = width + 220;
  const ends = new Map<number, Placed>();
  for (const p of all) ends.set(p.node.lane, p);
  return (
    <div className="score">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard */}
      <div ref={box} className="scorebox" tabIndex={0} role="img" aria-label={label}>
        {/* Without a box of its own: where it is wider than its nodes, its staves go on. */}
        <svg width={full} height={height} aria-hidden="true">
          {Array.from({ length: staves }, (_, i) => (
            <path key={i} className="st" d={`M0 ${top + stave * i}H${Math.max(full, wide)}`} />
          ))}
          {all.map((p) => {
            const parent = p.node.parent && of.get(p.node.parent);
            if (!parent) return <path key={p.node.id} className={active.has(p.node) ? "brn" : "br"} d={`M${p.x} ${p.y}H${p.end}`} />;
            const bend = parent.y === p.y ? `H${p.x}` : `C${parent.end + 22} ${parent.y} ${p.x - 22} ${p.y} ${p.x} ${p.y}`;
            return <path key={p.node.id} className={active.has(p.node) ? "brn" : "br"} d={`M${parent.end} ${parent.y}${bend}H${p.end}`} />;
          })}
          {all.map((p) => (
            <Heads key={p.node.id} placed={p} here={p.node === here} />
          ))}
          {all.map(
            (p) =>
              !p.node.parent && (
                <text key={p.node.id} x={p.x} y={p.y + 24} textAnchor="middle">
                  {time(p.node.at)}
                </text>
              ),
          )}
          {[...ends.values()].map((p) => {
            const name = names.get(p.node)?.name ?? "";
            const now = p.node === here;
            if (!name && !now) return null;
            return (
              <text key={p.node.id} className={now ? "now" : "lb"} x={p.end + 14} y={p.y + 4}>
                {[name, now ? hereWord : ""].filter(Boolean).join(", ")}
              </text>
            );
          })}
        </svg>
      </div>
    </div>
  );
}

function Heads({ placed: { node, x, y }, here }: { placed: Placed; here: boolean }) {
  if (node.kind === "said") return <circle className={here ? "nn" : "nu"} cx={x} cy={y} r="5.5" />;
  if (node.kind === "mark") return <path className="barln" d={`M${x - 2} ${y - 14}v28M${x + 2} ${y - 14}v28`} />;
  const n = headsOf(node);
  return (
    <>
      {Array.from({ length: n }, (_, i) => {
        const cx = x + headGap * i;
        if (node.failed && i === n - 1) return <path key={i} className="nx" d={`M${cx - 5} ${y - 5}l10 10M${cx + 5} ${y - 5}l-10 10`} />;
        return (
          <ellipse
            key={i}
            className={here && i === n - 1 ? "nn" : "nh"}
            cx={cx}
            cy={y}
            rx="4.6"
            ry="3.8"
            transform={`rotate(-18 ${cx} ${y})`}
          />
        );
      })}
    </>
  );
}
