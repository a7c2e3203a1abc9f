/** Where one can go from a place of the tree. Pure. */
import type { EventID } from "../../protocol/index";
import type { Move } from "./MoveDialog";
import type { TreeBuilder, TreeNode } from "./nodes";
import type { TreeWords } from "./words";

/** The moves from a node, what is meant most often first. */
export function movesOf(b: TreeBuilder, node: TreeNode, active: boolean, w: TreeWords): Move[] {
  const move = (title: string, target: EventID | null, rewind: boolean, edit?: EventID): Move => ({
    title,
    target,
    rewind,
    leaves: leaves(b, target),
    ...(edit ? { edit } : {}),
  });
  const out: Move[] = [];
  const end = active ? node : b.endOf(node);
  if (end !== node) out.push(move(w.toEnd, end.last, false));
  if (node.kind === "said") {
    out.push(move(w.edit, node.before, active || node.before === null, node.id));
    if (node.last !== b.leaf) out.push(move(w.after, node.last, active && node.last === node.id));
  } else if (node.last !== b.leaf) {
    out.push(move(end === node && !active ? w.toEnd : w.fromHere, node.last, active && !node.open));
  }
  return out;
}

/** Whether a move to an event leaves something behind: the leaf is not on the way to it. */
function leaves(b: TreeBuilder, target: EventID | null): boolean {
  const leaf = b.nodeOf(b.leaf);
  if (!leaf) return false;
  const to = b.nodeOf(target);
  for (let n = to; n; n = n.parent) if (n === leaf) return n === to && target !== b.leaf && target !== n.last;
  return true;
}
