/**
 * The text of a model as a page. It is parsed to a tree of Markdown, and elements are made from
 * that; HTML in it is shown as text, and nothing that it names is loaded.
 */
import type { Nodes, Parents, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { createElement, Fragment, memo, type ReactNode } from "react";
import { maxMarkdown, pieces } from "./blocks";
import { Code } from "./Code";
import { safeHref } from "./links";
import "./text.css";

/** Deeper blocks than these are shown as text. */
const maxDepth = 40;
/** Levels of quotes and lists of one line that a parser is given: deeper ones cost it the square of their number. */
const maxNesting = 60;

/** The text of a model; streaming ones end with the cursor. */
export function Markdown({ text, streaming }: { text: string; streaming?: boolean }) {
  if (text.length > maxMarkdown || tooDeep(text)) {
    return (
      <div className="prose">
        <p className="plain">{text}</p>
      </div>
    );
  }
  const parts = pieces(text);
  return (
    <div className={streaming ? "prose growing" : "prose"}>
      {parts.map((part, i) => (
        <Piece key={i} text={part} />
      ))}
      {streaming && <span className="cursor" aria-hidden="true" />}
    </div>
  );
}

function tooDeep(text: string): boolean {
  return new RegExp(`(?:[>\\-*+][ \\t]*){${maxNesting}}`).test(text) || new RegExp(`^[ \\t]{${4 * maxNesting},}`, "m").test(text);
}

const Piece = memo(function Piece({ text }: { text: string }) {
  const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return <>{children(root, 0)}</>;
});

function children(node: Parents, depth: number): ReactNode {
  return node.children.map((c, i) => <Fragment key={`${i} ${c.type}`}>{element(c as RootContent, depth + 1)}</Fragment>);
}

function element(node: RootContent, depth: number): ReactNode {
  if (depth > maxDepth) return textOf(node);
  switch (node.type) {
    case "text":
      return node.value;
    case "paragraph":
      return <p>{children(node, depth)}</p>;
    case "heading": // the title of the session is the first heading, and that of the turn the second
      return createElement(`h${Math.min(6, node.depth + 2)}`, null, children(node, depth));
    case "emphasis":
      return <em>{children(node, depth)}</em>;
    case "strong":
      return <strong>{children(node, depth)}</strong>;
    case "delete":
      return <del>{children(node, depth)}</del>;
    case "inlineCode":
      return <code>{node.value}</code>;
    case "code":
      return <Code text={node.value} {...(node.lang ? { language: node.lang } : {})} />;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "blockquote":
      return <blockquote>{children(node, depth)}</blockquote>;
    case "list":
      return node.ordered ? <ol start={node.start ?? 1}>{children(node, depth)}</ol> : <ul>{children(node, depth)}</ul>;
    case "listItem":
      if (typeof node.checked !== "boolean") return <li>{children(node, depth)}</li>;
      return (
        <li className="task">
          <input type="checkbox" checked={node.checked} readOnly disabled aria-label={textOf(node).slice(0, 80)} />
          {children(node, depth)}
        </li>
      );
    case "link":
      return link(node.url, children(node, depth));
    case "image": // never loaded: it could tell somebody that, and when, this was read
      return link(node.url, node.alt || node.url);
    case "table": {
      const [head, ...rows] = node.children;
      const cells = (row: typeof head, of: "th" | "td") =>
        row?.children.map((c, i) =>
          createElement(of, { key: `${i} cell`, className: node.align?.[i] === "right" ? "r" : undefined }, children(c, depth)),
        );
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard
        <div className="tablebox" tabIndex={0} role="group" aria-label="table">
          <table>
            <thead>
              <tr>{cells(head, "th")}</tr>
            </thead>
            <tbody>
              {rows.map((r, i) => (
                <tr key={`${i} row`}>{cells(r, "td")}</tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case "html":
      return node.value;
    case "linkReference":
    case "imageReference":
    case "footnoteReference":
    case "definition":
    case "footnoteDefinition":
      return textOf(node);
    default:
      return textOf(node);
  }
}

function link(url: string, inside: ReactNode): ReactNode {
  const href = safeHref(url);
  if (!href) return inside;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {inside}
    </a>
  );
}

function textOf(node: Nodes): string {
  if ("value" in node) return node.value;
  if ("children" in node) return node.children.map((c) => textOf(c as Nodes)).join("");
  if (node.type === "footnoteReference") return `[${node.identifier}]`;
  if (node.type === "definition") return `${node.identifier}: ${node.url}`;
  return "alt" in node ? (node.alt ?? "") : "";
}
