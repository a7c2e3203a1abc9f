import { CodeXml, Maximize2, Workflow } from "lucide-react";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { Code, CopyButton } from "../text/Code";
import { Zoom } from "../text/Picture";
import { safeText } from "../text/safe";
import { Scroller } from "../text/Scroller";
import { useWords } from "../words/index";
import { type Drawn, draw, drawnWithinMs, type Failed, known, type Outcome } from "./draw";
import { useLook } from "./look";
import { diagramWords } from "./words";
import "./diagram.css";

/** A diagram is not drawn smaller than this share of its size; where that is too wide, it scrolls. */
const smallest = 0.7;

/** A text of a diagram as its picture, and as text where somebody wants it so or it cannot be drawn. */
export default function Diagram({ text }: { text: string }) {
  const w = useWords(diagramWords);
  const look = useLook();
  const box = useRef<HTMLElement>(null);
  const [near, setNear] = useState(false);
  const [turn, setTurn] = useState(0);
  const [outcome, setOutcome] = useState<Outcome | undefined>(() => known(text, look));
  const [asText, setAsText] = useState(false);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const seen = new IntersectionObserver((all) => setNear(all.some((e) => e.isIntersecting)), { rootMargin: "600px" });
    seen.observe(el);
    return () => seen.disconnect();
  }, []);
  // The picture in the looks of before stays until there is one in those of now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: turn is another try
  useEffect(() => {
    if (near) return draw(text, look, setOutcome);
  }, [near, text, look, turn]);
  const drawn = outcome && "url" in outcome ? outcome : undefined;
  const failed = outcome && "why" in outcome ? outcome : undefined;
  const name = drawn ? nameOf(drawn, w) : w.diagram;
  const picture = drawn && !asText;
  return (
    <figure className="diagram" ref={box} aria-label={name}>
      <div className="diagramhead">
        <span className="trunc t3 grow" aria-hidden="true">
          {name}
        </span>
        {picture && <IconButton of={Maximize2} name={w.enlarge} small onClick={() => setOpen(true)} />}
        {drawn && (
          <IconButton of={asText ? Workflow : CodeXml} name={asText ? w.asDiagram : w.asText} small onClick={() => setAsText(!asText)} />
        )}
        <CopyButton text={text} />
      </div>
      {failed && <Failure failed={failed} w={w} onAgain={() => setTurn(turn + 1)} />}
      {picture ? (
        <Scroller name={name} className="diagrambox">
          <img
            src={drawn.url}
            alt={w.alt(name)}
            className={drawn.dark ? "dark" : undefined}
            width={drawn.width}
            height={drawn.height}
            style={{ width: `${drawn.width / 16}rem`, "--least": `${(drawn.width * smallest) / 16}rem` } as CSSProperties}
            draggable={false}
          />
        </Scroller>
      ) : (
        <Code text={text} language="mermaid" />
      )}
      {!outcome && near && <figcaption className="t3">{w.drawing}</figcaption>}
      {open && drawn && <Zoom url={drawn.url} width={drawn.width} height={drawn.height} alt={name} onClose={() => setOpen(false)} />}
    </figure>
  );
}

type W = (typeof diagramWords)["en"];

function Failure({ failed, w, onAgain }: { failed: Failed; w: W; onAgain(): void }) {
  if (failed.why === "frame") return <ErrorLine error={w.noFrame} action={w.again} onAction={onAgain} />;
  return (
    <figcaption className="t3">
      {failed.why === "slow" ? w.slow(drawnWithinMs / 1000) : failed.why === "large" ? w.large : w.notUnderstood(failed.line)}
    </figcaption>
  );
}

function nameOf(drawn: Drawn, w: W): string {
  const kind = kindOf(drawn.kind, w);
  return drawn.title ? w.named(kind, safeText(drawn.title)) : kind;
}

/** The kinds by mermaid's names, as they begin. */
const kinds: readonly (readonly [string, keyof W & `kind${string}`])[] = [
  ["flowchart", "kindFlow"],
  ["graph", "kindFlow"],
  ["swimlane", "kindFlow"],
  ["sequence", "kindSequence"],
  ["class", "kindClass"],
  ["state", "kindState"],
  ["er", "kindEntities"],
  ["gantt", "kindGantt"],
  ["pie", "kindPie"],
  ["mindmap", "kindMind"],
  ["timeline", "kindTime"],
  ["gitGraph", "kindGit"],
  ["journey", "kindJourney"],
  ["quadrant", "kindQuadrant"],
  ["xychart", "kindChart"],
  ["architecture", "kindArchitecture"],
  ["c4", "kindArchitecture"],
  ["block", "kindBlocks"],
  ["requirement", "kindRequirements"],
  ["kanban", "kindKanban"],
  ["sankey", "kindSankey"],
];

function kindOf(kind: string, w: W): string {
  const found = kinds.find(([name]) => kind.startsWith(name));
  return found ? w[found[1]] : w.diagram;
}
