/**
 * Draws diagrams, one after the other, in a frame without rights. There is one frame at most: it
 * is made for the first diagram, ends with one that takes too long, and when it has had nothing to
 * do for a while. What it answers is data from elsewhere: a picture is shown as an image, which
 * runs and loads nothing.
 */
import address from "virtual:diagram";
import type { Look, Order, Picture } from "./say";

/** The longest text in characters, and the largest picture in characters of its SVG and in pixels of a side. */
export const maxText = 50_000;
const maxSvg = 2 << 20;
const maxSide = 20_000;
/** How long a diagram may take, and the frame until it can draw. */
export const drawnWithinMs = 5_000;
const readyWithinMs = 30_000;
/** The frame ends when it has had nothing to do for this long. */
const idleMs = 60_000;
/** Characters of pictures that are kept while they are not shown. */
const maxKept = 8 << 20;

export interface Drawn {
  url: string;
  width: number;
  height: number;
  kind: string;
  title: string;
  dark: boolean;
}

/** Why there is no picture: the text was not understood (line 0: somewhere), it took too long, it is too large, or the frame did not load. */
export type Failed = { why: "text"; line: number } | { why: "slow" } | { why: "large" } | { why: "frame" };
export type Outcome = Drawn | Failed;

interface Job {
  key: string;
  text: string;
  look: Look;
  done(outcome: Outcome): void;
}

const kept = new Map<string, Outcome>();
const waiting: Job[] = [];
let running: { id: number; job: Job; timer: ReturnType<typeof setTimeout> } | undefined;
let frame: { el: HTMLIFrameElement; ready: boolean; timer: ReturnType<typeof setTimeout> } | undefined;
let orders = 0;

const keyOf = (text: string, look: Look) => `${JSON.stringify(look)}\n${text}`;

/** What is known of a text already. */
export function known(text: string, look: Look): Outcome | undefined {
  if (text.length > maxText) return { why: "large" };
  return kept.get(keyOf(text, look));
}

/** Draws a text and tells done; the function that is returned calls it off. */
export function draw(text: string, look: Look, done: (outcome: Outcome) => void): () => void {
  const before = known(text, look);
  if (before) {
    done(before);
    return () => {};
  }
  const job: Job = { key: keyOf(text, look), text, look, done };
  waiting.push(job);
  next();
  return () => {
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
    job.done = () => {}; // what is being drawn is kept for later
  };
}

/** Gives the frame its next order, when it has none. */
function next(): void {
  if (running) return;
  const [job] = waiting;
  if (!frame) {
    if (job) open();
    return;
  }
  if (!frame.ready) return;
  clearTimeout(frame.timer);
  if (!job) {
    frame.timer = setTimeout(close, idleMs);
    return;
  }
  waiting.shift();
  const same = kept.get(job.key);
  if (same) {
    job.done(same);
    next();
    return;
  }
  const order: Order = { id: ++orders, text: job.text, look: job.look };
  running = { id: order.id, job, timer: setTimeout(slow, drawnWithinMs) };
  frame.el.contentWindow?.postMessage(order, "*"); // the frame's origin has no name
}

function finish(outcome: Outcome): void {
  const job = running?.job;
  clearTimeout(running?.timer);
  running = undefined;
  if (job) {
    keep(job.key, outcome);
    job.done(outcome);
  }
  next();
}

function slow(): void {
  close();
  finish({ why: "slow" });
}

function open(): void {
  const el = document.createElement("iframe");
  el.setAttribute("sandbox", "allow-scripts");
  el.setAttribute("aria-hidden", "true");
  el.setAttribute("title", "");
  el.referrerPolicy = "no-referrer";
  el.tabIndex = -1;
  el.className = "diagramframe";
  // What is no document that draws, such as an answer that it is gone, says nothing after it has come.
  el.addEventListener("load", () => {
    if (frame?.el !== el || frame.ready) return;
    clearTimeout(frame.timer);
    frame.timer = setTimeout(absent, 2_000);
  });
  frame = { el, ready: false, timer: setTimeout(absent, readyWithinMs) };
  addEventListener("message", hear);
  el.src = new URL(address, document.baseURI).href;
  document.body.append(el);
}

function close(): void {
  if (!frame) return;
  clearTimeout(frame.timer);
  frame.el.remove();
  frame = undefined;
  removeEventListener("message", hear);
}

/** The frame has not come: all that wait are told, and what is asked for later tries again. */
function absent(): void {
  close();
  for (const job of waiting.splice(0)) job.done({ why: "frame" });
}

function hear(e: MessageEvent<unknown>): void {
  if (!frame || e.source !== frame.el.contentWindow || typeof e.data !== "object" || e.data === null) return;
  const said = e.data as Partial<Picture> & { ready?: unknown; id?: unknown; line?: unknown };
  if (said.ready === true && !frame.ready) {
    frame.ready = true;
    next();
  } else if (running && said.id === running.id) {
    finish(outcomeOf(said, running.job.look.dark));
  }
}

/** What the frame said, when it has the form that it is to have. */
function outcomeOf(said: Partial<Picture> & { line?: unknown }, dark: boolean): Outcome {
  const { svg, width, height, kind, title } = said;
  if (typeof svg !== "string" || typeof width !== "number" || typeof height !== "number") {
    return { why: "text", line: typeof said.line === "number" && said.line > 0 ? Math.floor(said.line) : 0 };
  }
  if (svg.length > maxSvg || !(width >= 1 && width <= maxSide) || !(height >= 1 && height <= maxSide)) return { why: "large" };
  return {
    // Not an address of a blob: opened by itself, that would be a document of the page's own origin.
    url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`,
    width,
    height,
    kind: typeof kind === "string" ? kind.slice(0, 40) : "",
    title: typeof title === "string" ? title.slice(0, 200) : "",
    dark,
  };
}

function sizeOf(o: Outcome): number {
  return "url" in o ? o.url.length : 100;
}

function keep(key: string, outcome: Outcome): void {
  kept.set(key, outcome);
  let size = 0;
  for (const [k, o] of kept) size += k.length + sizeOf(o);
  for (const [oldest, o] of kept) {
    if (size <= maxKept) break;
    kept.delete(oldest);
    size -= oldest.length + sizeOf(o);
  }
}
