/**
 * The rows of a tree. What continues is below without an indent, so that the current branch reads
 * straight down. Where the conversation went on in several ways, the others are before it, one
 * step to the right, folded. What a filter hides is left out, and what hangs on it moves up.
 * Pure: the twin of internal/ui/tui/tree.
 */
import type { TreeNode } from "./nodes";

export interface TreeRow {
  node: TreeNode;
  depth: number;
  /** The first of a branch that was left. */
  head: boolean;
  /** It has a line to the row above, and to what is below. */
  up: boolean;
  down: boolean;
  /** The parent of this head goes on below it. */
  tail: boolean;
  /** Depths at which a line passes, as bits. */
  rails: number;
  /** How many ways the conversation went on from here. */
  ways: number;
  /** Of a head: rows below it, which are folded away or not. */
  more: number;
  folded: boolean;
  /** The line that passes at depth 0 is that of the current branch. */
  railActive: boolean;
}

/** The deepest branch whose lines are drawn. */
const maxRail = 30;

export interface Look {
  nodes: readonly TreeNode[];
  active: ReadonlySet<TreeNode>;
  /** What is left out. */
  shows(n: TreeNode): boolean;
  /** Heads that were folded (true) or unfolded by hand. */
  folds: ReadonlyMap<string, boolean>;
  /** Nothing is folded, as while something is searched for. */
  unfolded: boolean;
}

/** The rows, and for each node that has one its number. */
export function layRows({ nodes, active, shows, folds, unfolded }: Look): { rows: TreeRow[]; rowOf: Map<TreeNode, number> } {
  const n = nodes.length;
  const root = n;
  const above = new Int32Array(n);
  const seen = new Uint8Array(n + 1);
  for (let i = 0; i < n; i++) {
    const p = nodes[i]?.parent?.index ?? -1;
    above[i] = p < 0 ? root : seen[p] ? p : (above[p] ?? root);
    seen[i] = shows(nodes[i] as TreeNode) ? 1 : 0;
  }
  const child = new Int32Array(n + 1).fill(-1);
  const next = new Int32Array(n + 1).fill(-1);
  const size = new Int32Array(n + 1);
  const newest = new Int32Array(n + 1).map((_, i) => (i === root ? -1 : i));
  for (let i = n - 1; i >= 0; i--) {
    if (!seen[i]) continue;
    const p = above[i] as number;
    next[i] = child[p] as number;
    child[p] = i;
    size[i] = (size[i] as number) + 1;
    size[p] = (size[p] as number) + (size[i] as number);
    newest[p] = Math.max(newest[p] as number, newest[i] as number);
  }
  const isActive = (i: number) => i === root || active.has(nodes[i] as TreeNode);
  const rows: TreeRow[] = [];
  const rowOf = new Map<TreeNode, number>();
  interface Item {
    i: number;
    depth: number;
    head: boolean;
    tail: boolean;
    rails: number;
    up: boolean;
    railActive: boolean;
  }
  const stack: Item[] = [{ i: root, depth: 0, head: false, tail: false, rails: 0, up: false, railActive: false }];
  for (let l = stack.pop(); l; l = stack.pop()) {
    // The child with which it goes on: that of the current branch, else, away from it, what is newest.
    let going = -1;
    for (let c = child[l.i] as number; c >= 0; c = next[c] as number) {
      if (isActive(c)) going = c;
      else if (!isActive(l.i) && (going < 0 || (newest[c] as number) > (newest[going] as number))) going = c;
    }
    const sides: number[] = [];
    for (let c = child[l.i] as number; c >= 0; c = next[c] as number) if (c !== going) sides.push(c);
    if (l.i !== root) {
      const node = nodes[l.i] as TreeNode;
      const more = l.head ? (size[l.i] as number) - 1 : 0;
      const folded = more > 0 && !unfolded && (folds.get(node.id) ?? true);
      rowOf.set(node, rows.length);
      rows.push({
        node,
        depth: l.depth,
        head: l.head,
        up: l.up,
        down: !folded && (going >= 0 || sides.length > 0),
        tail: l.tail,
        rails: l.rails,
        ways: sides.length + (going >= 0 ? 1 : 0),
        more,
        folded,
        railActive: l.railActive,
      });
      if (folded) continue;
    }
    if (going >= 0)
      stack.push({ i: going, depth: l.depth, head: false, tail: false, rails: l.rails, up: l.i !== root, railActive: l.railActive });
    for (let k = sides.length - 1; k >= 0; k--) {
      const tail = l.i === root || (going < 0 && k === sides.length - 1);
      stack.push({
        i: sides[k] as number,
        depth: l.depth + 1,
        head: true,
        tail,
        rails: !tail && l.depth <= maxRail ? l.rails | (1 << l.depth) : l.rails,
        up: l.i !== root,
        railActive: l.depth === 0 ? going >= 0 && isActive(going) : l.railActive,
      });
    }
  }
  return { rows, rowOf };
}
