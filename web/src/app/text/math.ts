/**
 * Mathematics in Markdown, for micromark: $…$, $$…$$, \(…\) and \[…\] in a line, and $$ or \[ on
 * a line of their own. Amounts of money are none: a dollar that opens has no space after it and no
 * letter or digit before it, one that closes no space before it and no letter or digit after it.
 */
import type { CompileContext, Extension as FromMarkdown, Token } from "mdast-util-from-markdown";
import type { Code, Construct, Effects, Extension, State, TokenizeContext, TokenType } from "micromark-util-types";
import type { Node } from "mdast";

/** A formula: display is drawn on a line of its own. */
export interface MathNode extends Node {
  type: "math";
  value: string;
  display: boolean;
}

const dollar = 36;
const backslash = 92;
const flow = "mathFlow" as TokenType;
const text = "mathText" as TokenType;
const data = "mathData" as TokenType;

const lineEnd = (code: Code) => code !== null && code < -2;
const space = (code: Code) => code === null || code < 0 || code === 32;
const word = (code: Code) => code !== null && code >= 0 && /[\p{L}\p{N}]/u.test(String.fromCodePoint(code));

/** Where a paragraph is known to have no more of a mark that closes: what begins before needs no second look. */
const without = new WeakMap<TokenizeContext, Map<string, number>>();

function tokenizeText(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  let closer = "";
  let before: Code = null;
  const beginning = this.previous;
  const begin = this.now().offset;
  const fail = (): State | undefined => {
    const known = without.get(this) ?? new Map<string, number>();
    without.set(this, known);
    known.set(closer, this.now().offset);
    return nok(null);
  };
  const failed = () => (without.get(this)?.get(closer) ?? -1) > begin;
  const start: State = (code) => {
    effects.enter(text);
    effects.enter(data);
    effects.consume(code);
    return code === dollar ? second : bracket;
  };
  const second: State = (code) => {
    if (code === dollar) {
      closer = "$$";
      effects.consume(code);
      return first;
    }
    closer = "$";
    return first(code);
  };
  const bracket: State = (code) => {
    if (code !== 40 && code !== 91) return nok(code);
    closer = code === 40 ? ")" : "]";
    effects.consume(code);
    return first;
  };
  const first: State = (code) => {
    if (code === null || failed()) return nok(code);
    if (closer === "$" && (space(code) || word(beginning) || code === dollar)) return nok(code);
    if (closer === "$$" && code === dollar) return nok(code);
    return inside(code);
  };
  const inside: State = (code) => {
    if (code === null) return fail();
    if (lineEnd(code)) {
      effects.exit(data);
      effects.enter("lineEnding");
      effects.consume(code);
      effects.exit("lineEnding");
      effects.enter(data);
      before = 32;
      return inside;
    }
    effects.consume(code);
    if (code === backslash) return escaped;
    if (code === dollar && closer === "$" && !space(before)) return afterDollar;
    if (code === dollar && closer === "$$") return secondDollar;
    before = code;
    return inside;
  };
  const escaped: State = (code) => {
    if ((code === 41 && closer === ")") || (code === 93 && closer === "]")) {
      effects.consume(code);
      return done;
    }
    if (code === null || lineEnd(code)) return inside(code);
    before = code;
    effects.consume(code);
    return inside;
  };
  const afterDollar: State = (code) => {
    before = dollar;
    return word(code) ? inside(code) : done(code);
  };
  const secondDollar: State = (code) => {
    before = dollar;
    if (code !== dollar) return inside(code);
    effects.consume(code);
    return done;
  };
  const done: State = (code) => {
    effects.exit(data);
    effects.exit(text);
    return ok(code);
  };
  return start;
}

function tokenizeFlow(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  let dollars = true;
  let blank = false;
  let begun = false;
  const start: State = (code) => {
    effects.enter(flow);
    effects.enter(data);
    dollars = code === dollar;
    effects.consume(code);
    return second;
  };
  const second: State = (code) => {
    if (code !== (dollars ? dollar : 91)) return nok(code);
    effects.consume(code);
    return inside;
  };
  const inside: State = (code) => {
    if (code === null) return nok(code);
    if (lineEnd(code)) {
      if (blank) return nok(code);
      effects.exit(data);
      effects.enter("lineEnding");
      effects.consume(code);
      effects.exit("lineEnding");
      return lineStart;
    }
    if (!space(code)) {
      blank = false;
      begun = true;
    }
    effects.consume(code);
    return code === (dollars ? dollar : backslash) ? mayClose : inside;
  };
  const lineStart: State = (code) => {
    if (code === null || this.parser.lazy[this.now().line]) return nok(code);
    blank = true;
    effects.enter(data);
    return inside(code);
  };
  const mayClose: State = (code) => {
    if (code === (dollars ? dollar : 93) && begun) {
      effects.consume(code);
      return closed;
    }
    if (code === null || lineEnd(code)) return inside(code);
    effects.consume(code);
    return inside;
  };
  const closed: State = (code) => {
    if (code === null || lineEnd(code)) {
      effects.exit(data);
      effects.exit(flow);
      return ok(code);
    }
    if (!space(code)) return nok(code);
    effects.consume(code);
    return closed;
  };
  return start;
}

const inLine: Construct = {
  name: "mathText",
  tokenize: tokenizeText,
  previous: (code) => code !== dollar,
};
const onLines: Construct = { name: "mathFlow", tokenize: tokenizeFlow, concrete: true };

export function mathSyntax(): Extension {
  return { flow: { [dollar]: onLines, [backslash]: onLines }, text: { [dollar]: inLine, [backslash]: inLine } };
}

function enter(this: CompileContext, token: Token): undefined {
  this.enter({ type: "math", value: "", display: false } as unknown as Parameters<CompileContext["enter"]>[0], token);
}

function exit(this: CompileContext, token: Token): undefined {
  const node = this.stack.at(-1) as unknown as MathNode;
  const source = this.sliceSerialize(token).trim();
  const marks = source.startsWith("$") && !source.startsWith("$$") ? 1 : 2;
  node.display = source.startsWith("$$") || source.startsWith("\\[");
  node.value = source.slice(marks, -marks).trim();
  this.exit(token);
}

export function mathFromMarkdown(): FromMarkdown {
  return { enter: { mathFlow: enter, mathText: enter }, exit: { mathFlow: exit, mathText: exit } } as unknown as FromMarkdown;
}
