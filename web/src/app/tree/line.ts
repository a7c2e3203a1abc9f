import type { TreeNode } from "./nodes";
import type { TreeWords } from "./words";

/** What a row of the tree says. */
export function lineOf(n: TreeNode, w: TreeWords): string {
  if (n.tokens) return w.compacted(n.tokens.before, n.tokens.after);
  if (n.kind === "mark") return `${w.summary}: ${n.text}`;
  return n.text || (n.steps > 0 ? w.steps(n.steps) : w.noText);
}
