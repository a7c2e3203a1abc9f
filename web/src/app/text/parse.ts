/**
 * Parses a block of Markdown into its tree. HTML is no syntax here: it stays text. This file is
 * loaded when the first text is shown.
 */
import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { mathFromMarkdown, mathSyntax } from "./math";

const syntax = [gfm({ singleTilde: false }), mathSyntax(), { disable: { null: ["htmlFlow", "htmlText"] } }];
const trees = [gfmFromMarkdown(), mathFromMarkdown()];

export function parse(text: string): Root {
  return fromMarkdown(text, { extensions: syntax, mdastExtensions: trees });
}
