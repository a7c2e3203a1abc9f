import { Code } from "../text/Code";
import { Diff } from "../text/Diff";
import { Fence } from "../text/Fence";
import { Formula } from "../text/Formula";
import { Markdown } from "../text/Markdown";
import { safeText } from "../text/safe";
import { Terminal } from "../text/Terminal";
import { hostileDiagrams, slowDiagrams } from "../diagram/testing/hostile";
import { hostile } from "../text/testing/hostile";

/** Characters from which on a text is drawn once by each: it is about their time then. */
const oneOfEach = 100_000;

/** A sample of hostile text, drawn by everything that draws text. */
export function Hostile({ index }: { index: number }) {
  const sample = hostile[index];
  if (!sample) return <p data-samples={hostile.length}>There are {hostile.length} samples.</p>;
  const { name, text } = sample;
  const lines = text.split("\n");
  const diff = `@@ -1,${lines.length} +1,${lines.length} @@ ${text.slice(0, 200)}\n${lines.map((l) => `-${l}`).join("\n")}\n${lines.map((l) => `+${l} `).join("\n")}`;
  return (
    <main key={index} data-sample={index}>
      <h1>{safeText(name)}</h1>
      <Markdown text={text} streaming />
      <Code text={text} language={text.slice(0, 40)} copy />
      <Diff diff={diff} path={text.slice(0, 200)} />
      <Terminal text={text} running />
      {text.length < oneOfEach && (
        <>
          <Markdown text={text} />
          <Code text={text} language="html" />
          <Diff diff={text} mode="split" path="index.html" />
        </>
      )}
      <p>
        <Formula source={text} display={false} />
      </p>
      <Formula source={text} display />
    </main>
  );
}

/** A hostile text of a diagram; the slow ones come after the others. */
export function HostileDiagram({ index }: { index: number }) {
  const text = [...hostileDiagrams, ...slowDiagrams][index] ?? "";
  return (
    <main key={index} data-sample={index}>
      <h1>Diagram {index}</h1>
      <Fence text={text} language="mermaid" live={false} />
    </main>
  );
}
