import { useEffect, useState } from "react";
import { Button } from "../parts/controls";
import { Code } from "../text/Code";
import { Diff } from "../text/Diff";
import { Markdown } from "../text/Markdown";
import { PictureOf } from "../text/Picture";
import { Terminal } from "../text/Terminal";
import { code, diagrams, diff, formulas, output, prose } from "./samples";

/** A text that comes in as from a model, 1,000 deltas a second; it begins when it is asked to. */
function Streaming() {
  const [shown, setShown] = useState(0);
  const text = prose.repeat(40);
  const running = shown > 0 && shown < text.length;
  useEffect(() => {
    if (!running) return;
    const frame = requestAnimationFrame(() => setShown((n) => Math.min(text.length, n + 67)));
    return () => cancelAnimationFrame(frame);
  });
  return (
    <>
      <Button small onClick={() => setShown(1)}>
        Stream 100 KB
      </Button>
      <Markdown
        text={shown ? text.slice(0, shown) : "All four places count civil days now. The test for the 25-hour day fails **without the chan"}
        streaming={shown === 0 || running}
      />
    </>
  );
}

function drawing(): Promise<Uint8Array<ArrayBuffer>> {
  const canvas = document.createElement("canvas");
  canvas.width = 1200;
  canvas.height = 700;
  const c = canvas.getContext("2d");
  for (let i = 0; c && i < 12; i++) {
    c.fillStyle = `hsl(${i * 30} 40% 60%)`;
    c.fillRect(i * 100, 700 - i * 50, 90, i * 50);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((b) => (b ? b.arrayBuffer().then((a) => resolve(new Uint8Array(a))) : reject(new Error("no image")))),
  );
}
const fails = () => Promise.reject(new Error("The payload is no longer there."));
const never = () => new Promise<Uint8Array<ArrayBuffer>>(() => {});
const noise = async () => new Uint8Array([1, 2, 3]);

/** What draws text, in every state. */
export const textStates = {
  markdown: () => <Markdown text={prose} />,
  streaming: Streaming,
  formulas: () => <Markdown text={formulas} />,
  diagrams: () => (
    <Markdown
      text={Object.entries(diagrams)
        .map(([name, text]) => `### ${name}\n\n\`\`\`mermaid\n${text}\`\`\`\n`)
        .join("\n")}
    />
  ),
  code: () => (
    <>
      {Object.entries(code).map(([language, text]) => (
        <Code key={language} text={text} language={language} copy />
      ))}
      <Code text={"const still = `com"} language="ts" live copy />
    </>
  ),
  diff: () => (
    <>
      <div className="well">
        <Diff diff={diff} path="internal/schedule/next.go" />
      </div>
      <div className="well">
        <Diff diff={diff} path="internal/schedule/next.go" mode="split" />
      </div>
      <Diff diff="" />
    </>
  ),
  terminal: () => (
    <>
      <div className="well">
        <Terminal text={output} />
      </div>
      <div className="well">
        <Terminal text={output} running />
      </div>
      <div className="well">
        <Terminal text={Array.from({ length: 2300 }, (_, i) => `line ${i}\n`).join("")} />
      </div>
    </>
  ),
  picture: () => (
    <>
      <PictureOf name="drawing" mediaType="image/png" alt="Runs of each month" load={drawing} />
      <PictureOf name="never" mediaType="image/png" alt="" load={never} />
      <PictureOf name="fails" mediaType="image/png" alt="" load={fails} />
      <PictureOf name="noise" mediaType="image/png" alt="" load={noise} />
      <PictureOf name="other" mediaType="image/svg+xml" alt="" load={never} />
    </>
  ),
};
