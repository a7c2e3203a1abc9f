/**
 * Runs in a frame without rights, with nothing else in it, and draws diagrams: what mermaid makes
 * of a text that a model wrote never comes into the page, only a picture of it does. The frame can
 * load nothing, and its origin is nobody's: see internal/host/serve/page.go and draw.ts.
 */
import mermaid, { type MermaidConfig } from "mermaid";
import { legible } from "./legible";
import type { Look, Order, Picture, Said } from "./say";
import { corrections, variables } from "./variables";

function say(said: Said): void {
  parent.postMessage(said, "*"); // only a page of the same host can be there: frame-ancestors
}

/** What a text may not set for itself: what bounds the work, and the looks, so that it can be read in every theme. */
const ours = [
  "secure securityLevel startOnLoad maxTextSize maxEdges suppressErrorRendering htmlLabels",
  "theme themeVariables themeCSS darkMode fontFamily altFontFamily look handDrawnSeed dompurifyConfig logLevel",
]
  .join(" ")
  .split(" ");

function config(look: Look): MermaidConfig {
  return {
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    secure: ours,
    maxTextSize: 100_000, // draw.ts has the bound
    maxEdges: 500,
    logLevel: "fatal",
    deterministicIds: true,
    theme: "base",
    darkMode: look.dark,
    fontFamily: look.font,
    themeVariables: variables(look),
    htmlLabels: false, // text of SVG: an image has no other fonts than the system's, and cuts nothing off
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
  };
}

async function draw(order: Order): Promise<Picture | { line: number }> {
  try {
    const box = document.createElement("div");
    box.style.width = `${order.look.width}px`;
    document.body.replaceChildren(box);
    mermaid.initialize(config(order.look));
    const { svg, diagramType } = await mermaid.render("d", order.text, box);
    box.innerHTML = svg;
    const drawn = box.querySelector("svg");
    if (!drawn) return { line: 0 };
    const { width, height } = size(drawn);
    drawn.setAttribute("width", String(width));
    drawn.setAttribute("height", String(height));
    drawn.style.maxWidth = "";
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = corrections(order.look);
    drawn.append(style);
    legible(drawn);
    for (const el of drawn.querySelectorAll("script, a")) el.replaceWith(...(el.localName === "a" ? el.childNodes : []));
    return {
      svg: new XMLSerializer().serializeToString(drawn),
      width,
      height,
      kind: diagramType,
      title: (drawn.querySelector(":scope > title")?.textContent ?? "").slice(0, 200),
    };
  } catch (e) {
    return { line: Math.min(lineOf(e), order.text.trimEnd().split("\n").length) };
  } finally {
    document.body.replaceChildren();
  }
}

/** The size of a drawing: that of its view, which mermaid fits to what is in it. */
function size(svg: SVGSVGElement): { width: number; height: number } {
  const view = svg.viewBox.baseVal;
  const box = view && view.width > 0 ? view : svg.getBBox();
  return { width: Math.max(1, Math.ceil(box.width)), height: Math.max(1, Math.ceil(box.height)) };
}

function lineOf(e: unknown): number {
  const { hash, message } = e as { hash?: { loc?: { first_line?: unknown } }; message?: unknown };
  const line = /\bline (\d+)/i.exec(String(message ?? ""))?.[1] ?? hash?.loc?.first_line ?? 0;
  return Number(line) || 0;
}

let last: Promise<void> = Promise.resolve();
addEventListener("message", (e: MessageEvent<Order>) => {
  const order = e.data;
  if (e.source !== parent || typeof order?.text !== "string") return;
  last = last.then(async () => say({ id: order.id, ...(await draw(order)) }));
});
say({ ready: true });
