/** Draws trees of Markdown as elements of the page. No text of a tree becomes markup, a style or an address that loads. */
import { Square, SquareCheck } from "lucide-react";
import type { List, ListItem, Nodes, Parents, PhrasingContent, RootContent, TableRow } from "mdast";
import { Fragment, memo, type ReactNode } from "react";
import { Icon } from "../parts/controls";
import type { Drawn, References } from "./doc";
import { Fence } from "./Fence";
import { Formula } from "./Formula";
import type { MathNode } from "./math";
import { otherHost, safeHref } from "./links";
import { safeText } from "./safe";
import { Scroller } from "./Scroller";
import type { textWords } from "./words";

export interface Drawing {
  references: References;
  w: (typeof textWords)["en"];
  /** What begins the names of elements of this text. */
  id: string;
  /** The text is still coming in, and this is its last block. */
  live: boolean;
}

/** Levels of elements in each other; what is deeper is drawn as text. */
const maxLevels = 40;

/** The mark of text that is still coming in. */
export function Cursor() {
  return <span className="cursor" aria-hidden="true" />;
}

/** The content of a block. */
export const BlockView = memo(function BlockView({ drawn, ...d }: { drawn: Drawn } & Drawing) {
  const { block, tree } = drawn;
  if (block.kind === "code") return <Fence text={block.text} language={block.language} live={d.live} />;
  if (!tree) return <Plain text={block.text} live={d.live} />;
  return <>{children(tree, d, 0, d.live)}</>;
});

/** The members of a list or the rows of a table, which a block before this one has begun. */
export const Members = memo(function Members({ drawn, ...d }: { drawn: Drawn } & Drawing) {
  const [node] = drawn.tree?.children ?? [];
  if (node?.type === "list") return <>{items(node, d, 0, d.live, drawn.block.loose)}</>;
  if (node?.type === "table") return <>{rows(node.children.slice(drawn.block.goesOn ? 1 : 0), node.align ?? [], d, 0, d.live)}</>;
  return null;
});

/** Text as it is, with its lines. */
export function Plain({ text, live }: { text: string; live?: boolean }) {
  return (
    <div className="plain">
      {safeText(text)}
      {live && <Cursor />}
    </div>
  );
}

function children(node: Parents, d: Drawing, level: number, last: boolean): ReactNode[] {
  const end = node.children.length - 1;
  return node.children.map((child, i) => {
    return <Fragment key={i}>{draw(child, d, level + 1, last && i === end)}</Fragment>;
  });
}

/** Draws a node; last says that the text ends in it and still grows. */
function draw(node: Nodes | MathNode, d: Drawing, level: number, last: boolean): ReactNode {
  if (level > maxLevels && "children" in node) return safeText(textOf(node));
  const inner = () => children(node as Parents, d, level, last);
  switch (node.type) {
    case "text":
      return last ? (
        <>
          {safeText(node.value)}
          <Cursor />
        </>
      ) : (
        safeText(node.value)
      );
    case "paragraph":
      return <p>{inner()}</p>;
    case "heading": {
      const Tag = `h${Math.min(node.depth + 2, 6)}` as "h3";
      return <Tag className={`h${node.depth}`}>{inner()}</Tag>;
    }
    case "strong":
      return <strong>{inner()}</strong>;
    case "emphasis":
      return <em>{inner()}</em>;
    case "delete":
      return <del>{inner()}</del>;
    case "inlineCode":
      return withCursor(<code>{safeText(node.value)}</code>, last);
    case "code":
      return <Fence text={node.value} language={node.lang ?? ""} live={last} />;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "blockquote":
      return <blockquote>{inner()}</blockquote>;
    case "list":
      return listOf(node, items(node, d, level, last, false));
    case "listItem":
      return item(node, d, level, last, false);
    case "table":
      return tableOf(d, node.children[0], node.align ?? [], rows(node.children.slice(1), node.align ?? [], d, level, last));
    case "link":
      return withCursor(link(node.url, inner2(node, d, level), textOf(node)), last);
    case "linkReference": {
      const url = d.references.links.get(node.identifier);
      return withCursor(url === undefined ? inner2(node, d, level) : link(url, inner2(node, d, level), textOf(node)), last);
    }
    case "image":
      return withCursor(link(node.url, d.w.image(safeText(node.alt ?? "")), ""), last);
    case "imageReference":
      return withCursor(link(d.references.links.get(node.identifier) ?? "", d.w.image(safeText(node.alt ?? "")), ""), last);
    case "footnoteReference":
      return withCursor(<Call name={node.identifier} d={d} />, last);
    case "math":
      return withCursor(<Formula source={node.value} display={node.display} />, last);
    case "html":
      return withCursor(safeText(node.value), last);
    default:
      return null; // definitions are drawn where they are referred to
  }
}

function inner2(node: Parents, d: Drawing, level: number): ReactNode {
  return children(node, d, level, false);
}

function withCursor(node: ReactNode, last: boolean): ReactNode {
  return last ? (
    <>
      {node}
      <Cursor />
    </>
  ) : (
    node
  );
}

function link(url: string, content: ReactNode, text: string): ReactNode {
  const href = safeHref(url);
  if (!href) return <span className="nolink">{content}</span>;
  const host = text && otherHost(text, href);
  return (
    <>
      <a href={href} title={safeText(href)} target="_blank" rel="noopener noreferrer">
        {content}
      </a>
      {host && <span className="t3"> ({safeText(host)})</span>}
    </>
  );
}

/** A list around members. */
export function listOf(node: List, members: ReactNode): ReactNode {
  if (node.ordered) return <ol {...(node.start != null && node.start !== 1 ? { start: node.start } : {})}>{members}</ol>;
  return <ul className={node.children.some((c) => c.checked != null) ? "tasks" : undefined}>{members}</ul>;
}

function items(node: List, d: Drawing, level: number, last: boolean, loose: boolean): ReactNode[] {
  return node.children.map((child, i) => {
    return <Fragment key={i}>{item(child, d, level + 1, last && i === node.children.length - 1, loose || node.spread === true)}</Fragment>;
  });
}

function item(node: ListItem, d: Drawing, level: number, last: boolean, loose: boolean): ReactNode {
  const task = node.checked != null && (
    <span className="task" role="img" aria-label={node.checked ? d.w.done : d.w.open}>
      <Icon of={node.checked ? SquareCheck : Square} />
    </span>
  );
  return (
    <li className={[loose && "loose", task && "todo-item"].filter(Boolean).join(" ") || undefined}>
      {task}
      {children(node, d, level, last)}
      {last && node.children.length === 0 && <Cursor />}
    </li>
  );
}

const aligned = { left: undefined, center: "mid", right: "r" } as const;
type Align = readonly (keyof typeof aligned | null | undefined)[];

/** A table around rows; it scrolls in its own box. */
export function tableOf(d: Drawing, head: TableRow | undefined, align: Align, body: ReactNode): ReactNode {
  return (
    <Scroller name={d.w.table} className="tablebox">
      <table>
        <thead>
          <tr>{head && cells(head, align, d, 0, false, "th")}</tr>
        </thead>
        <tbody>{body}</tbody>
      </table>
    </Scroller>
  );
}

function rows(list: readonly TableRow[], align: Align, d: Drawing, level: number, last: boolean): ReactNode[] {
  return list.map((row, i) => <tr key={i}>{cells(row, align, d, level, last && i === list.length - 1, "td")}</tr>);
}

function cells(row: TableRow, align: Align, d: Drawing, level: number, last: boolean, Tag: "td" | "th"): ReactNode[] {
  return row.children.map((cell, i) => (
    <Tag key={i} className={aligned[align[i] ?? "left"]} {...(Tag === "th" ? { scope: "col" } : {})}>
      {children(cell, d, level + 1, last && i === row.children.length - 1)}
    </Tag>
  ));
}

function Call({ name, d }: { name: string; d: Drawing }) {
  const note = d.references.notes.get(name);
  if (!note) return <>{`[^${safeText(name)}]`}</>;
  return (
    <sup>
      <button
        type="button"
        className="fn"
        id={`${d.id}-call-${note.number}`}
        aria-label={d.w.footnote(note.number)}
        onClick={() => show(`${d.id}-note-${note.number}`)}
      >
        {note.number}
      </button>
    </sup>
  );
}

function show(id: string): void {
  const el = document.getElementById(id);
  el?.scrollIntoView({ block: "nearest" });
  el?.focus({ preventScroll: true });
}

/** The footnotes of a text, below it. */
export function Footnotes(d: Drawing) {
  const notes = [...d.references.notes];
  if (notes.length === 0) return null;
  return (
    <section className="notes" aria-label={d.w.footnotes}>
      <ol>
        {notes.map(([name, note]) => (
          <li key={name} id={`${d.id}-note-${note.number}`} tabIndex={-1}>
            {note.content.map((node: RootContent, i) => (
              <Fragment key={i}>{draw(node, d, 1, false)}</Fragment>
            ))}
            <button type="button" className="fn" aria-label={d.w.backToText} onClick={() => show(`${d.id}-call-${note.number}`)}>
              ↩
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The words of a node, without its marks. */
function textOf(node: Nodes | PhrasingContent): string {
  const parts: string[] = [];
  const stack: Nodes[] = [node as Nodes];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if ("children" in next) for (let i = next.children.length - 1; i >= 0; i--) stack.push(next.children[i] as Nodes);
    else if ("value" in next) parts.push(next.value);
    else if ("alt" in next && next.alt) parts.push(next.alt);
  }
  return parts.join("");
}
