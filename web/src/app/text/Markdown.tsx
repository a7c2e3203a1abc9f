import type { Root } from "mdast";
import { memo, type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from "react";
import { loaded } from "../parts/loaded";
import { useWords } from "../words/index";
import { Doc, type Drawn, parsedAtOnce } from "./doc";
import { BlockView, Cursor, type Drawing, Footnotes, listOf, Members, tableOf } from "./prose";
import { safeText } from "./safe";
import { soon } from "./soon";
import { textWords } from "./words";
import "./text.css";

let parser: ((text: string) => Root) | undefined;
const listeners = new Set<() => void>();
let asked = false;

/** Asks for the parser; text is plain until it has come. One that does not come is asked for again with the next text. */
function ask(): void {
  if (asked) return;
  asked = true;
  loaded(() => import("./parse")).then(
    (m) => {
      parser = m.parse;
      for (const l of listeners) l();
    },
    () => {
      asked = false;
    },
  );
}
ask(); // before there is a text to show

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  ask();
  return () => listeners.delete(listener);
}

function useParse(): ((text: string) => Root) | undefined {
  return useSyncExternalStore(subscribe, () => parser);
}

/** The text of a model, which may still come in. The words of models are never markup of the page. */
export const Markdown = memo(function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const parse = useParse();
  return (
    <div className="prose">
      {parse ? <Parsed parse={parse} text={text} streaming={streaming} /> : <Waiting text={text} live={streaming} />}
    </div>
  );
});

function Waiting({ text, live }: { text: string; live: boolean }) {
  return (
    <div className="plain">
      {safeText(text)}
      {live && <Cursor />}
    </div>
  );
}

function Parsed({ parse, text, streaming }: { parse(text: string): Root; text: string; streaming: boolean }) {
  const w = useWords(textWords);
  const id = useId();
  const doc = useRef<Doc>(null);
  doc.current ??= new Doc(parse);
  const [turns, setTurns] = useState(0);
  const shown = doc.current.read(text, !streaming, turns === 0 ? parsedAtOnce : parsedInTurn);
  useEffect(() => {
    if (!shown.waiting) return;
    return soon(() => setTurns(turns + 1));
  }, [shown.waiting, turns]);
  const drawing: Drawing = { references: shown.references, w, id, live: false };
  return (
    <>
      {parts(shown.blocks, drawing, streaming)}
      {streaming && shown.blocks.length === 0 && <Cursor />}
      {!streaming && <Footnotes {...drawing} />}
    </>
  );
}

/** Characters of a long text that are parsed at a time, after what is parsed at once. */
const parsedInTurn = 8 << 10;

/** Blocks in their order; those that go on with a list or a table are drawn in one. */
function parts(blocks: readonly Drawn[], d: Drawing, streaming: boolean): ReactNode[] {
  const out: ReactNode[] = [];
  const live = (i: number) => streaming && i === blocks.length - 1;
  for (let i = 0; i < blocks.length; i++) {
    const first = blocks[i];
    if (!first) break;
    let end = i + 1;
    while (blocks[end]?.block.goesOn && joins(first, blocks[end])) end++;
    const [node] = first.tree?.children ?? [];
    if (end === i + 1 || !node) out.push(<BlockView key={first.block.start} drawn={first} {...d} live={live(i)} />);
    else {
      const members = blocks.slice(i, end).map((b, n) => <Members key={b.block.start} drawn={b} {...d} live={live(i + n)} />);
      out.push(
        <Group key={first.block.start}>
          {node.type === "list" ? listOf(node, members) : node.type === "table" && tableOf(d, node.children[0], node.align ?? [], members)}
        </Group>,
      );
    }
    i = end - 1;
  }
  return out;
}

function Group({ children }: { children: ReactNode }) {
  return <>{children}</>;
}

/** Whether a block is drawn in the list or table that another one began: both are nothing else. */
function joins(first: Drawn, next: Drawn | undefined): boolean {
  const type = next?.block.goesOn;
  const only = (d: Drawn | undefined) =>
    d?.tree?.children.filter((n) => n.type !== "definition" && n.type !== "footnoteDefinition").length === 1 &&
    d.tree.children[0]?.type === type;
  return only(first) && only(next);
}
