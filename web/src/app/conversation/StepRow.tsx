import { Check, ChevronDown, ChevronRight, Circle, CircleAlert, CircleDot } from "lucide-react";
import { memo, useState } from "react";
import { Icon } from "../parts/controls";
import { hrefOf } from "../route";
import { Diff } from "../text/Diff";
import { countDiff } from "../text/diff";
import { Markdown } from "../text/Markdown";
import { safeHref } from "../text/links";
import { Picture } from "../text/Picture";
import { Terminal } from "../text/Terminal";
import { Exact } from "../text/Exact";
import { duration } from "../words/format";
import { useLanguage, useWords } from "../words/index";
import { Lane, type Span } from "./Lane";
import type { ProcessStep } from "./process";
import { member, type Step, titleOf } from "./rows";
import { verbOf } from "./verbs";
import { Whole } from "./Whole";
import { conversationWords } from "./words";

/** One call as a line of the ledger, and what it did when it is unfolded. */
export const StepRow = memo(
  function StepRow({ step, turn }: { step: Step; turn: Span }) {
    const w = useWords(conversationWords);
    const language = useLanguage();
    const { verb, icon } = verbOf(step, language);
    // Changes and what prints are unfolded until somebody folds them.
    const [open, setOpen] = useState<boolean>();
    const unfolded = open ?? ((step.state === "running" && step.output !== "") || Boolean(step.details.diff && short(step.details.diff)));
    const command = unfolded ? longCommand(step) : "";
    const bad = step.state === "failed" || step.state === "denied" || step.state === "lost";
    return (
      <div className="step">
        <button
          type="button"
          className={step.state === "running" ? "line run" : bad ? "line bad" : "line"}
          aria-expanded={unfolded}
          onClick={() => setOpen(!unfolded)}
        >
          <Icon of={icon} />
          <span className="verb">{verb}</span>
          <span className="arg">{titleOf(step.info, step.input)}</span>
          <Result step={step} />
          <Lane of={spanOf(step)} within={turn} look={step.state === "running" ? "now" : bad ? "bad" : ""} />
          <span className="dur">{step.duration > 0 ? duration(step.duration) : ""}</span>
          <Icon of={unfolded ? ChevronDown : ChevronRight} small className="fold" />
        </button>
        {unfolded && (
          <div className="unfolded">
            {command && <Exact text={command} name={verb} />}
            {step.process.length > 0 && <Progress steps={step.process} />}
            {step.whole ? (
              <Whole blob={step.whole} as="terminal">
                <Body step={step} />
              </Whole>
            ) : (
              <Body step={step} />
            )}
            {step.pictures.map((p) => (
              <Picture key={p.blob} blob={p.blob} mediaType={p.mediaType} alt={titleOf(step.info, step.input)} />
            ))}
            {step.untold && <p className="runfoot t3">{w.untold}</p>}
            {step.details.agent && (
              <p className="runfoot">
                <span className="grow">
                  {step.details.agent.agent} · {w.steps(step.details.agent.steps ?? 0)}
                </span>
                <a href={hrefOf({ at: "session", id: step.details.agent.sessionId })}>{w.open}</a>
              </p>
            )}
          </div>
        )}
      </div>
    );
  },
  (a, b) =>
    a.turn.from === b.turn.from &&
    a.turn.to === b.turn.to &&
    (a.step === b.step || (a.step.state !== "running" && a.step.key === b.step.key && a.step.state === b.step.state)),
);

function spanOf(step: Step): Span {
  return step.state === "running" ? { from: step.at, to: step.end } : { from: step.end - step.duration, to: step.end };
}

/** The command of a step that its line does not show whole, "" of any other. */
function longCommand(step: Step): string {
  const command = step.info?.view === "command" ? member(step.input, "command") : undefined;
  return typeof command === "string" && (command.includes("\n") || command.length > 60) ? command : "";
}

/** What a call has told of its progress: each step with how far it is, or when it was. */
function Progress({ steps }: { steps: readonly ProcessStep[] }) {
  const w = useWords(conversationWords);
  const within = { from: Math.min(...steps.map((s) => s.from)), to: Math.max(...steps.map((s) => s.to)) };
  return (
    <ul className="progress" aria-label={w.progress}>
      {steps.map((s) => (
        <li key={s.key} className={s.state}>
          <Icon of={s.state === "failed" ? CircleAlert : s.state === "done" ? Check : s.state === "running" ? CircleDot : Circle} small />
          <span className="trunc">{s.text}</span>
          {s.share !== undefined && s.state === "running" ? (
            <progress max={1} value={s.share} aria-label={s.text} />
          ) : (
            <Lane of={s} within={within} look={s.state === "failed" ? "bad" : s.state === "running" ? "now" : ""} />
          )}
          <span className="dur">{s.to > s.from ? duration(s.to - s.from) : ""}</span>
        </li>
      ))}
    </ul>
  );
}

function short(diff: string): boolean {
  return diff.split("\n").length <= 24;
}

function Result({ step }: { step: Step }) {
  const w = useWords(conversationWords);
  const { details, state } = step;
  if (state === "running")
    return <span className="res acc">{step.info?.view === "questions" || step.info?.view === "plan" ? w.waiting : w.running}</span>;
  if (state === "denied") return <span className="res err">{w.denied(details.denied?.reason ?? details.denied?.rule ?? "")}</span>;
  if (state === "lost") return <span className="res err">{w.noResult}</span>;
  if (state === "stopped") return <span className="res">{w.stopped}</span>;
  if (details.exitCode) return <span className="res err">{w.exit(details.exitCode)}</span>;
  if (state === "failed") return <span className="res err">{w.failed}</span>;
  if (details.diff) {
    const { added, removed } = countDiff(details.diff);
    return (
      <span className="res">
        {added > 0 && <span className="add">+{added}</span>} {removed > 0 && <span className="del">−{removed}</span>}
      </span>
    );
  }
  if (details.todos)
    return <span className="res">{w.done(details.todos.filter((t) => t.status === "completed").length, details.todos.length)}</span>;
  if (details.links) return <span className="res">{w.links(details.links.length)}</span>;
  if (step.output === "") return <span className="res">{empty(step) ? w.noOutput : ""}</span>;
  return <span className="res">{w.lines(step.output.replace(/\n$/, "").split("\n").length)}</span>;
}

/** A call that is done and has brought nothing that could be shown. */
function empty(step: Step): boolean {
  return step.state === "done" && step.output === "" && step.pictures.length === 0 && !step.details.agent && !step.details.asked;
}

function Body({ step }: { step: Step }) {
  const w = useWords(conversationWords);
  const { details, info, input, output } = step;
  const failed = step.state === "failed" || step.state === "denied";
  if (details.diff && !failed) return <Diff diff={details.diff} path={titleOf(info, input)} />;
  if (details.todos) {
    return (
      <ul className="todo flat">
        {details.todos.map((t, i) => (
          <li key={`${i} ${t.content}`} className={t.status === "completed" ? "x" : t.status === "in_progress" ? "now" : ""}>
            {t.content}
          </li>
        ))}
      </ul>
    );
  }
  if (details.links) {
    return (
      <ul className="links">
        {details.links.map((l) => (
          <li key={l.url}>
            {safeHref(l.url) ? (
              <a href={safeHref(l.url)} target="_blank" rel="noopener noreferrer">
                {l.title}
              </a>
            ) : (
              l.title
            )}
          </li>
        ))}
      </ul>
    );
  }
  if (details.asked) {
    return (
      <dl className="asked">
        {details.asked.map((a) => (
          <div key={a.question}>
            <dt>{a.question}</dt>
            <dd>{[...(a.picked ?? []), ...(a.words ?? [])].join(", ") || "–"}</dd>
          </div>
        ))}
      </dl>
    );
  }
  const plan = member(input, "plan");
  if (info?.view === "plan" && typeof plan === "string") return <Markdown text={plan} />;
  if (info?.view === "agent" && output !== "") return <Markdown text={output} />;
  const shown = output !== "" ? output : info?.view === "command" ? "" : JSON.stringify(input, undefined, 2);
  if (shown === "" && empty(step)) return <p className="runfoot t3">{w.noOutput}</p>;
  return <Terminal text={shown ?? ""} running={step.state === "running"} />;
}
