/**
 * Draws TeX as MathML: KaTeX reads it, and its tree becomes elements of the page here, with the
 * elements and attributes named below and no others. It is loaded when the first formula is shown.
 */
import katex, { type KatexOptions } from "katex";
import { createElement, type ReactNode } from "react";
import { safeText } from "./safe";

/** The longest formula in characters, its deepest element, and how many there are. */
const maxSource = 4000;
const maxLevels = 60;
const maxElements = 5000;

/** What KaTeX makes before it writes it: it is exported, but not in its types. */
const treeOf = (katex as unknown as { __renderToDomTree(source: string, options: KatexOptions): Tree }).__renderToDomTree;

interface Tree {
  type?: string;
  attributes?: Record<string, string>;
  children?: Tree[];
  text?: string;
}

const elements = new Set(
  "math mrow mi mo mn mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle mpadded mphantom menclose".split(
    " ",
  ),
);
const attributes = new Set(
  (
    "display fence stretchy separator lspace rspace accent accentunder columnalign rowspacing columnspacing columnlines rowlines scriptlevel " +
    "displaystyle linethickness width height depth voffset minsize maxsize form symmetric movablelimits largeop notation"
  ).split(" "),
);

/** Letters of a kind in Unicode, because browsers take no notice of mathvariant: where A, a and 0 are. */
const kinds: Record<string, { upper: number; lower: number; digit?: number; others?: string }> = {
  bold: { upper: 0x1d400, lower: 0x1d41a, digit: 0x1d7ce },
  "bold-italic": { upper: 0x1d468, lower: 0x1d482 },
  "double-struck": { upper: 0x1d538, lower: 0x1d552, digit: 0x1d7d8, others: "CℂHℍNℕPℙQℚRℝZℤ" },
  script: { upper: 0x1d49c, lower: 0x1d4b6, others: "BℬEℰFℱHℋIℐLℒMℳRℛeℯgℊoℴ" },
  fraktur: { upper: 0x1d504, lower: 0x1d51e, others: "CℭHℌIℑRℜZℨ" },
  "sans-serif": { upper: 0x1d5a0, lower: 0x1d5ba, digit: 0x1d7e2 },
  monospace: { upper: 0x1d670, lower: 0x1d68a, digit: 0x1d7f6 },
};

function inKind(text: string, kind: string): string {
  const k = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (!k) return text;
  return text.replace(/[A-Za-z0-9]/g, (c) => {
    const special = k.others?.indexOf(c) ?? -1;
    if (special >= 0 && special % 2 === 0) return k.others?.[special + 1] ?? c;
    const code = c.charCodeAt(0);
    const [base, from] = code >= 97 ? [k.lower, 97] : code >= 65 ? [k.upper, 65] : [k.digit ?? 48, 48];
    return String.fromCodePoint(base + code - from);
  });
}

/** The MathML of a formula, undefined of what is none. */
export function drawTex(source: string, display: boolean): ReactNode | undefined {
  if (source.length > maxSource) return undefined;
  try {
    const tree = treeOf(source, {
      output: "mathml",
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxSize: 20,
      maxExpand: 500,
    });
    let left = maxElements;
    // Browsers take no notice of columnalign, so cells have a class.
    const walk = (node: Tree, key: number, level: number, kind: string, columns: readonly string[] = []): ReactNode => {
      if (level > maxLevels || left-- <= 0) throw new Error("the formula is too large");
      if (node.text !== undefined) return safeText(inKind(node.text, kind));
      const below = node.type === "mtable" ? (node.attributes?.columnalign ?? "").split(" ") : node.type === "mtr" ? columns : [];
      const inner = (k: string) => node.children?.map((c, i) => walk(c, i, level + 1, k, below)) ?? [];
      if (node.type === "annotation") return null;
      if (node.type === undefined || !elements.has(node.type)) return inner(kind);
      const attrs: Record<string, string | number> = { key };
      for (const [name, value] of Object.entries(node.attributes ?? {})) if (attributes.has(name)) attrs[name] = value;
      if (node.type === "mtd" && (columns[key] === "left" || columns[key] === "right")) attrs.className = columns[key];
      const variant = node.attributes?.mathvariant;
      if (node.type === "mi" && variant === "normal") attrs.mathvariant = "normal";
      return createElement(node.type, attrs, ...inner(variant ?? kind));
    };
    return walk(tree, 0, 0, "");
  } catch {
    return undefined;
  }
}
