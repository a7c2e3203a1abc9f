/** A Markdown text that is shown and may grow: its blocks with their trees, and what they refer to. */
import type { Root, RootContent } from "mdast";
import { type Block, Blocks } from "./blocks";
import { mend } from "./mend";

/** A block to draw. It is another object when it is to be drawn again. */
export interface Drawn {
  readonly block: Block;
  /** undefined of code, of text that is not parsed, and of what is not parsed yet */
  readonly tree: Root | undefined;
}

/** What blocks refer to in others. It is replaced when it changes. */
export interface References {
  readonly links: ReadonlyMap<string, string>;
  /** Footnotes in the order in which they are first referred to. */
  readonly notes: ReadonlyMap<string, { number: number; content: readonly RootContent[] }>;
}

export interface Shown {
  readonly blocks: readonly Drawn[];
  readonly references: References;
  /** There are blocks that wait for their turn to be parsed. */
  readonly waiting: boolean;
}

/** Definitions that a text may have for other blocks than their own. */
const maxReferences = 200;

/** What a footnote is in a block that only refers to it. */
const elsewhere = "\ue000";

const none: References = { links: new Map(), notes: new Map() };

/** Characters that are parsed at once before the page is drawn; the rest follows in pieces. */
export const parsedAtOnce = 16 << 10;

export class Doc {
  /** Characters that were parsed, for tests. */
  parsed = 0;
  private readonly blocks = new Blocks();
  private drawn = new Map<number, Drawn>();
  private references = none;
  private links = new Map<string, string>();
  private notes = new Map<string, readonly RootContent[]>();
  private defined = "";
  private text = "";

  constructor(private readonly parse: (text: string) => Root) {}

  /** What to show of text. At most budget characters are parsed for it, the last block always. */
  read(text: string, ended: boolean, budget = parsedAtOnce): Shown {
    if (!text.startsWith(this.text)) this.forget();
    this.text = text;
    const blocks = this.blocks.read(text, ended);
    const drawn = new Map<number, Drawn>();
    const before = this.drawn;
    let waiting = false;
    let spent = 0;
    for (const [i, block] of blocks.entries()) {
      const last = i === blocks.length - 1;
      const known = before.get(block.start);
      let now: Drawn;
      if (known?.block === block && (known.tree || block.kind !== "markdown")) now = known;
      else if (block.kind !== "markdown") now = { block, tree: undefined };
      else if (spent + block.text.length > budget && !last && spent > 0) {
        now = known?.block === block ? known : { block, tree: undefined };
        waiting = true;
      } else {
        spent += block.text.length;
        now = { block, tree: this.tree(last && !ended ? mend(block.text) : block.text) };
        if (!last || ended) this.define(now.tree);
      }
      drawn.set(block.start, now);
    }
    this.drawn = drawn;
    this.refer(ended ? undefined : blocks.at(-1)?.start);
    return { blocks: [...this.drawn.values()], references: this.references, waiting };
  }

  private forget(): void {
    this.drawn = new Map();
    this.links.clear();
    this.notes.clear();
    this.references = none;
    this.defined = "";
  }

  private tree(text: string): Root {
    let known = "";
    if (text.includes("[")) {
      const lower = text.toLowerCase();
      for (const name of this.links.keys()) if (lower.includes(`[${name}]`)) known += `\n\n[${name}]: #`;
      for (const name of this.notes.keys()) if (lower.includes(`[^${name}]`)) known += `\n\n[^${name}]: ${elsewhere}`;
    }
    this.parsed += text.length + known.length;
    try {
      return this.parse(text + known);
    } catch {
      // Text that the parser fails on is still to be read.
      return { type: "root", children: [{ type: "paragraph", children: [{ type: "text", value: text }] }] };
    }
  }

  /** Notes what a block defines for others. */
  private define(tree: Root | undefined): void {
    for (const node of tree?.children ?? []) {
      if (this.links.size + this.notes.size >= maxReferences) return;
      if (node.type === "definition" && node.url !== "#" && !this.links.has(node.identifier)) this.links.set(node.identifier, node.url);
      if (node.type === "footnoteDefinition" && !this.notes.has(node.identifier) && !isElsewhere(node)) {
        this.notes.set(node.identifier, node.children);
      }
    }
  }

  /** Parses again what refers to something that was defined later, except the block that grows, and numbers the footnotes. */
  private refer(growing: number | undefined): void {
    const defined = [...this.links.keys(), "", ...this.notes.keys()].join("\n");
    if (this.links.size + this.notes.size === 0) return;
    if (defined !== this.defined) {
      this.defined = defined;
      for (const [start, d] of this.drawn) {
        if (start === growing || !d.tree || !d.block.text.includes("[")) continue;
        const lower = d.block.text.toLowerCase();
        const refers =
          [...this.links.keys()].some((n) => lower.includes(`[${n}]`)) || [...this.notes.keys()].some((n) => lower.includes(`[^${n}]`));
        if (refers) this.drawn.set(start, { block: d.block, tree: this.tree(d.block.text) });
      }
    }
    const order: string[] = [];
    for (const d of this.drawn.values()) if (d.tree && d.block.text.includes("[^")) calls(d.tree, order);
    const known = [...this.references.notes.keys()].join("\n") === order.join("\n") && this.references.links.size === this.links.size;
    if (known) return;
    this.references = {
      links: new Map(this.links),
      notes: new Map(
        order.flatMap((name, i) => (this.notes.has(name) ? [[name, { number: i + 1, content: this.notes.get(name) ?? [] }]] : [])),
      ),
    };
  }
}

/** Whether a footnote only says that it is defined in another block. */
function isElsewhere(node: { children: readonly RootContent[] }): boolean {
  const [first] = node.children;
  return first?.type === "paragraph" && first.children[0]?.type === "text" && first.children[0].value === elsewhere;
}

function calls(node: { type: string; children?: readonly unknown[] }, order: string[]): void {
  if (node.type === "footnoteDefinition") return;
  const { identifier } = node as { identifier?: string };
  if (node.type === "footnoteReference" && identifier && !order.includes(identifier)) order.push(identifier);
  for (const child of node.children ?? []) calls(child as typeof node, order);
}
