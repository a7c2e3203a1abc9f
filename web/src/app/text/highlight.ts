/**
 * Colours code by classes: a grammar names what each word is, and a theme of marks, which are no
 * colours, stands for the classes. This file is loaded when the first code is coloured. Nothing of
 * it needs WebAssembly or makes code of text.
 */
import { codeToTokensBase, createShikiPrimitive, getLastGrammarState, type GrammarState, type ThemeRegistrationRaw } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { loadGrammar } from "./languages";

/** A piece of a line with the class that it has, "" of none. */
export type Token = readonly [text: string, className: string];

/** The longest line that is coloured, and for how long one is tried, in milliseconds. */
const maxLine = 1000;
const maxTime = 500;

const classes = ["", "hl-k", "hl-s", "hl-n", "hl-c", "hl-f", "hl-y", "hl-o", "hl-a", "hl-d"];
const markOf = (className: string) => `#00000${classes.indexOf(className)}`;
const rule = (className: string, scope: string[]) => ({ scope, settings: { foreground: markOf(className) } });

const theme: ThemeRegistrationRaw = {
  name: "classes",
  type: "light",
  settings: [
    { settings: { foreground: markOf(""), background: "#ffffff" } },
    rule("hl-o", ["keyword.operator", "punctuation.separator.key-value"]),
    rule("hl-k", [
      "keyword",
      "storage",
      "variable.language",
      "entity.name.tag",
      "markup.heading",
      "keyword.operator.new",
      "keyword.operator.expression",
      "keyword.operator.logical.python",
    ]),
    rule("hl-s", ["string", "markup.inline.raw", "markup.fenced_code", "constant.other.symbol"]),
    rule("hl-n", [
      "constant.numeric",
      "constant.language",
      "constant.character",
      "constant.other",
      "support.constant",
      "keyword.other.unit",
    ]),
    rule("hl-c", ["comment", "punctuation.definition.comment", "markup.quote"]),
    rule("hl-f", ["entity.name.function", "support.function", "entity.name.command", "markup.underline.link"]),
    rule("hl-y", [
      "entity.name.type",
      "entity.name.class",
      "entity.other.inherited-class",
      "support.type",
      "support.class",
      "storage.type.primitive",
      "storage.type.numeric",
      "storage.type.string",
      "entity.other.attribute-name",
      "support.type.property-name",
    ]),
    rule("", ["string meta.embedded", "string meta.template.expression", "meta.interpolation"]),
    rule("hl-a", ["markup.inserted"]),
    rule("hl-d", ["markup.deleted"]),
  ],
};

const engine = createJavaScriptRegexEngine({ forgiving: true });
const shiki = createShikiPrimitive({ themes: [theme], langs: [], engine });
const loaded = new Map<string, Promise<void>>();

/** Makes a language ready. */
export function ready(language: string): Promise<void> {
  let known = loaded.get(language);
  if (!known) {
    known = loadGrammar(language).then((m) => shiki.loadLanguageSync(m.default));
    known.catch(() => loaded.delete(language));
    loaded.set(language, known);
  }
  return known;
}

/** Where the colouring of code is between two lines. */
export type Between = GrammarState | undefined;

/** The tokens of whole lines that come after others. */
export function colour(lines: string, language: string, before: Between): { tokens: Token[][]; state: Between } {
  const tokens = codeToTokensBase(shiki, lines, {
    lang: language,
    theme: "classes",
    tokenizeMaxLineLength: maxLine,
    tokenizeTimeLimit: maxTime,
    ...(before ? { grammarState: before } : {}),
  });
  return {
    tokens: tokens.map((line) => line.map((t) => [t.content, classes[Number(t.color?.slice(1, 7))] ?? ""] as const)),
    state: getLastGrammarState(shiki, tokens) as Between,
  };
}
