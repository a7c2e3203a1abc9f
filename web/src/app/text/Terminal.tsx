import { type CSSProperties, memo, useRef } from "react";
import { useWords } from "../words/index";
import { type Run, Screen, type ScreenLine } from "./ansi";
import { Cursor } from "./prose";
import { Scroller } from "./Scroller";
import { textWords } from "./words";
import "./text.css";

/** Lines that are drawn together: only those that have changed are drawn again. */
const together = 50;

/** Output of a command, with its colours. running: more of it comes in. most: the most lines that are drawn. */
export const Terminal = memo(function Terminal({ text, running = false, most }: { text: string; running?: boolean; most?: number }) {
  const w = useWords(textWords);
  const screen = useRef<Screen>(null);
  screen.current ??= new Screen(most);
  const lines = screen.current.show(text);
  const { leftOut } = screen.current;
  const groups: ScreenLine[][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (last?.[0] && Math.floor(last[0].number / together) === Math.floor(line.number / together)) last.push(line);
    else groups.push([line]);
  }
  return (
    <Scroller name={w.output} className="term" follow={running}>
      <div className="termtext">
        {leftOut > 0 && <p className="t3 rest">{w.earlierLeftOut(leftOut)}</p>}
        <pre>
          {groups.map((g, i) => (
            <Lines
              key={Math.floor((g[0]?.number ?? 0) / together)}
              first={g[0]}
              last={g.at(-1)}
              lines={g}
              live={running && i === groups.length - 1}
            />
          ))}
        </pre>
      </div>
    </Scroller>
  );
});

/** Lines that a program has drawn, each as a terminal shows it by itself. */
export const Drawn = memo(function Drawn({ lines }: { lines: readonly string[] }) {
  const shown = new Screen(lines.length + 1).show(lines.join("\x1b[0m\n"));
  return <Lines first={shown[0]} last={shown.at(-1)} lines={shown} live={false} />;
});

/** Lines change only at the end, so their first and last say whether they are others. */
const Lines = memo(
  function Lines({
    lines,
    live,
  }: {
    lines: readonly ScreenLine[];
    first: ScreenLine | undefined;
    last: ScreenLine | undefined;
    live: boolean;
  }) {
    const plain = lines.every((l) => l.runs.every((run) => isPlain(run)));
    if (plain && !live) return <span>{lines.map((l) => `${l.runs.map((run) => run.text).join("")}\n`).join("")}</span>;
    return (
      <span>
        {lines.map((l, i) => (
          <span key={l.number}>
            {l.runs.map((run, n) => (
              <RunView key={n} run={run} />
            ))}
            {live && i === lines.length - 1 ? <Cursor /> : "\n"}
          </span>
        ))}
      </span>
    );
  },
  (a, b) => a.first === b.first && a.last === b.last && a.lines.length === b.lines.length && a.live === b.live,
);

/** Most output has no colours: then its lines are one text. */
function isPlain(run: Run): boolean {
  return !run.columns && Object.values(run.look).every((v) => v === undefined || v === false);
}

function RunView({ run }: { run: Run }) {
  const { look } = run;
  const style: Record<string, string> = {};
  const classes: string[] = [];
  const [said, back] = look.inverse ? [look.bg, look.fg] : [look.fg, look.bg];
  // Grounds are drawn as a tint of the terminal's own, on which black and grey could not be read.
  const front = back !== undefined && (said === 0 || said === 8) ? undefined : said;
  if (typeof front === "string") style["--t-fg"] = front;
  if (typeof back === "string") style["--t-bg"] = back;
  if (front !== undefined && !look.inverse) classes.push(typeof front === "number" ? `t-${front}` : "t-fg");
  if (look.inverse) classes.push("t-inv", ...(typeof back === "number" ? [`t-i${back}`] : back !== undefined ? ["t-ibg"] : []));
  else if (back !== undefined) classes.push(typeof back === "number" ? `t-b${back}` : "t-bg");
  for (const name of ["bold", "dim", "italic", "underline", "strike"] as const) if (look[name]) classes.push(`t-${name}`);
  if (run.columns) {
    classes.push("t-wide");
    style["--t-columns"] = String(run.columns);
  }
  if (classes.length === 0) return run.text;
  return (
    <span className={classes.join(" ")} style={style as CSSProperties}>
      {run.text}
    </span>
  );
}
