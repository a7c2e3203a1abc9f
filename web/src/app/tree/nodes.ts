/**
 * The tree of a session: what people said, and between that the answers, each with all its steps.
 * Pure. It keeps of each event one line, not its content. A lane is a line of the conversation
 * from where it left another one; the first to go on from a place keeps the lane.
 */
import { isConversation, movedLeaf } from "../../client/fold";
import { cleanLine } from "../../display/clean";
import type { Block, CustomMessageEvent, EventID, PersistentEvent, SessionEvent } from "../../protocol/index";
import { member } from "../conversation/rows";
import { unframed } from "./framed";

/** The kind of the event of a command that a person has run. */
const shellKind = "scorel.shell";

/** Rows that a tree has at most; further ones are left out, and the tree says so. */
export const maxNodes = 100_000;
/** Characters of the line of a row, and of a text in which that line is looked for. */
const maxText = 160;
const maxLook = 1024;

export interface TreeNode {
  id: EventID;
  /** The event that it hangs on, null for the first. */
  before: EventID | null;
  /** Its last event: from there the conversation goes on. */
  last: EventID;
  /** Of an answer its newest message: what a name is given to. */
  point: EventID;
  kind: "said" | "answer" | "mark";
  text: string;
  /** Of a compaction. */
  tokens?: { before: number; after: number };
  /** Of an answer. */
  model: string;
  at: number;
  /** Calls of tools. */
  steps: number;
  failed: boolean;
  /** Its last event has calls without results: the host rewinds to no such place. */
  open: boolean;
  lane: number;
  parent: TreeNode | undefined;
  children: number;
  /** Its place in the order of the log; that of its parent is smaller. */
  index: number;
}

export class TreeBuilder {
  readonly nodes: TreeNode[] = [];
  /** The names of events. */
  readonly labels = new Map<string, string>();
  /** Where the conversation is, "" for its beginning. */
  leaf = "";
  /** The seq of the newest event that was taken. */
  seq = 0;
  lanes = 0;
  /** There are more than maxNodes. */
  cut = false;
  private readonly byEvent = new Map<string, TreeNode>();

  /** Takes in events in the order of the log; those that it has already change nothing. */
  add(events: readonly SessionEvent[]): void {
    for (const e of events) {
      if (!("id" in e) || !e.id || e.seq <= this.seq) continue;
      this.seq = e.seq;
      const moved = movedLeaf(e);
      if (moved !== undefined) this.leaf = moved;
      else if (e.type === "label") {
        if (e.label === null) this.labels.delete(e.targetEventId);
        else this.labels.set(e.targetEventId, cleanLine(e.label));
      } else if (isConversation(e)) {
        this.leaf = e.id;
        this.take(e as PersistentEvent);
      }
    }
  }

  /** The node that an event is in. */
  nodeOf(event: string | null | undefined): TreeNode | undefined {
    return event ? this.byEvent.get(event) : undefined;
  }

  /** The nodes from the first one to that of the leaf. */
  active(): Set<TreeNode> {
    const out = new Set<TreeNode>();
    for (let n = this.nodeOf(this.leaf); n; n = n.parent) out.add(n);
    return out;
  }

  /** The names of nodes, with the events that have them. */
  names(): Map<TreeNode, { name: string; event: EventID }> {
    const out = new Map<TreeNode, { name: string; event: EventID }>();
    for (const [event, name] of this.labels) {
      const n = this.nodeOf(event);
      if (n) out.set(n, { name, event: event as EventID });
    }
    return out;
  }

  /** The newest node of what hangs on a node: where its branch ends. */
  endOf(node: TreeNode): TreeNode {
    // One pass: a parent is before its children.
    const below = new Uint8Array(this.nodes.length);
    below[node.index] = 1;
    let end = node;
    for (let i = node.index + 1; i < this.nodes.length; i++) {
      const n = this.nodes[i] as TreeNode;
      if (!n.parent || !below[n.parent.index]) continue;
      below[i] = 1;
      end = n;
    }
    return end;
  }

  private take(e: PersistentEvent): void {
    const parent = this.nodeOf(e.parentId);
    const follows = parent !== undefined && parent.last === e.parentId && parent.children === 0;
    const kind = kindOf(e);
    if (kind === undefined || (kind === "answer" && parent?.kind === "answer" && follows)) {
      if (!parent) return; // nothing that is seen: what comes after it begins the tree
      this.byEvent.set(e.id, parent);
      if (follows) {
        parent.last = e.id;
        if (kind === "answer") extend(parent, e);
      }
      return;
    }
    if (this.nodes.length >= maxNodes) {
      this.cut = true;
      return;
    }
    const node: TreeNode = {
      id: e.id,
      before: e.parentId ?? null,
      last: e.id,
      point: e.id,
      kind,
      text: "",
      model: "",
      at: e.ts,
      steps: 0,
      failed: false,
      open: false,
      lane: follows ? parent.lane : this.lanes++,
      parent,
      children: 0,
      index: this.nodes.length,
    };
    if (parent) parent.children++;
    extend(node, e);
    this.nodes.push(node);
    this.byEvent.set(e.id, node);
  }
}

function kindOf(e: PersistentEvent): TreeNode["kind"] | undefined {
  switch (e.type) {
    case "message":
      return e.message.role === "user" ? "said" : e.message.role === "internal" ? undefined : "answer";
    case "compact":
    case "branch_summary":
      return "mark";
    case "custom_message":
      return "answer";
  }
  return undefined;
}

/** Takes a further event into a node. */
function extend(node: TreeNode, e: PersistentEvent): void {
  if (e.type === "compact") {
    node.tokens = { before: e.tokensBefore, after: e.tokensAfter };
    node.text = firstLine(e.summary);
  } else if (e.type === "branch_summary") node.text = firstLine(e.summary);
  else if (e.type === "custom_message") {
    node.text ||= lineOfCustom(e);
    node.open = false;
  } else if (e.type === "message") {
    const m = e.message;
    if (m.role === "user") node.text = lineOfBlocks(m.content, true);
    node.open = false;
    if (m.role !== "assistant") return;
    node.point = e.id;
    node.model = m.model ?? "";
    const text = lineOfBlocks(m.content, false);
    if (text) node.text = text;
    const calls = (m.content ?? []).filter((b) => b.type === "tool_use").length;
    node.steps += calls;
    node.open = calls > 0;
    node.failed = m.stopReason === "error" || m.stopReason === "refusal" || Boolean(m.errorMessage);
    if (m.errorMessage && !text) node.text = firstLine(m.errorMessage);
  }
}

/** A command of a person with !, or what an extension says. */
function lineOfCustom(e: CustomMessageEvent): string {
  const command = member(e.data, "command");
  if (e.kind === shellKind && typeof command === "string") return firstLine(`! ${command}`);
  const { content } = e.message;
  return firstLine(`${e.kind}: ${lineOfBlocks(content, false)}`);
}

function lineOfBlocks(content: string | readonly Block[] | null, said: boolean): string {
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  for (const b of blocks) {
    if (b.type === "text") {
      const line = firstLine(said ? unframed(b.text) : b.text);
      if (line) return line;
    } else if (b.type === "file" && b.name) return `[${firstLine(b.name)}]`;
    else if (b.type === "image") return "[image]";
  }
  return "";
}

/** The first line of a text that is not blank. */
export function firstLine(s: string): string {
  const line = s.slice(0, maxLook).trimStart().split("\n", 1)[0] ?? "";
  return line.length <= maxText ? cleanLine(line) : `${cleanLine(line.slice(0, maxText))}…`;
}
