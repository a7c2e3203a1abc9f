import { Columns2, Rows2 } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import type { PermissionRequest, Suggestion } from "../../protocol/index";
import { member, titleOf, toolOf, type Step } from "../conversation/rows";
import { verbOf } from "../conversation/verbs";
import { useClient, useMay, useSession } from "../host/context";
import { kept, keep } from "../host/kept";
import { Button, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { countDiff } from "../text/diff";
import { Diff } from "../text/Diff";
import { shownControls } from "../../display/index";
import { exactText, literalText } from "../text/safe";
import { useLanguage, useWords } from "../words/index";
import { Exact } from "../text/Exact";
import { NotArrived, useAnswering } from "./Questions";
import { questionsWords } from "./words";

/** How much of each rule is seen where an answer has several, in characters: of its beginning and of its end. */
const ruleHead = 24;
const ruleTail = 12;

/** Rules with the middle of long ones left out, so that none hides between two others, and how many they are. */
function shortRules(rules: string): [text: string, n: number] {
  const all = rules.split("), ");
  if (all.length === 1) return [rules, 1];
  const short = (r: string) => (r.length > ruleHead + ruleTail + 1 ? `${r.slice(0, ruleHead)}…${r.slice(-ruleTail)}` : r);
  return [all.map(short).join("), "), all.length];
}

/** Whether a call may run: what it would do, and what can be answered, with the rule that would be written. */
export function Permission({ request }: { request: PermissionRequest }) {
  const w = useWords(questionsWords);
  const language = useLanguage();
  const client = useClient();
  const { sessionId } = useSession();
  const mayAnswer = useMay("answer");
  const mayAll = useMay("control");
  const [reasoning, setReasoning] = useState(false);
  const [reason, setReason] = useState("");
  const [mode, setMode] = useState<"unified" | "split">(kept("diff") === "split" && innerWidth >= 900 ? "split" : "unified");
  const { answer, busy, error } = useAnswering((a: { choice: number; reason?: string }) =>
    client.call("answer_permission", { permissionId: request.permissionId, ...a }, { sessionId }),
  );
  const tool = toolOf(request.toolName, request.args);
  const { verb } = verbOf(tool as Step, language);
  const command = tool.info?.view === "command" ? member(tool.input, "command") : undefined;
  const title = titleOf(tool.info, tool.input);
  const { preview } = request;
  const counts = preview?.diff ? countDiff(preview.diff) : undefined;
  const offered = (request.suggestions ?? []).map((s, choice) => ({ ...s, choice })).filter((s) => mayAll || s.scope === "once");

  // A longer rule is shortened where it is offered, so that all answers are in view.
  const long = offered.map((s) => literalText(s.rule ?? "")).find((rule) => rule.length > 80);
  const choices: { key: string; name: string; about: string; act(): void }[] = [
    ...offered.map((s) => ({
      key: String(s.choice),
      name: nameOf(s, w),
      about: s.rule ? w.rule(...shortRules(literalText(s.rule))) : w.onceAbout,
      act: () => answer({ choice: s.choice }),
    })),
    { key: "deny", name: w.deny, about: w.denyAbout, act: () => answer({ choice: -1 }) },
    { key: "reason", name: w.denyReason, about: "", act: () => setReasoning(true) },
  ];
  const deny = (e: FormEvent) => {
    e.preventDefault();
    answer({ choice: -1, ...(reason.trim() ? { reason: reason.trim() } : {}) });
  };
  return (
    <>
      <div className="top">
        <span className="lampdot" />
        <h2 id="asked" className="grow">
          {verb} <code>{title}</code>?
        </h2>
        {counts && (
          <span className="res num">
            <span className="add">+{counts.added}</span> <span className="del">−{counts.removed}</span>
          </span>
        )}
        {preview?.diff && (
          <IconButton
            className="wide"
            of={mode === "split" ? Rows2 : Columns2}
            name={mode === "split" ? w.unified : w.split}
            onClick={() => {
              const next = mode === "split" ? "unified" : "split";
              setMode(next);
              keep("diff", next);
            }}
          />
        )}
      </div>
      {(request.reason || request.subagent) && (
        <p className="why">
          {request.subagent && <>{w.subagent(request.subagent.agent)}. </>}
          {withCode(request.reason ?? "")}
        </p>
      )}
      <div className="view">
        {preview?.diff ? (
          <Diff diff={shownControls(preview.diff)} mode={mode} path={preview.path} />
        ) : preview?.omitted ? (
          <p className="why">{w.omitted}</p>
        ) : typeof command === "string" ? (
          <Exact text={command} name={w.whole} />
        ) : (
          <Exact prose text={JSON.stringify(tool.input, undefined, 2) ?? ""} name={w.whole} />
        )}
      </div>
      {long && (
        <details className="wholerule">
          <summary>{w.wholeRule}</summary>
          <Exact text={long} name={w.wholeRule} />
        </details>
      )}
      <ErrorLine error={error} />
      <NotArrived busy={busy} />
      {mayAnswer && !reasoning && (
        <ol className="choices">
          {choices.map((c, i) => (
            <li key={c.key} className={i === 0 ? "on" : ""}>
              <button
                type="button"
                className="choice"
                data-choice=""
                {...(c.key === "deny" ? { "data-refuse": "" } : {})}
                disabled={busy}
                onClick={c.act}
              >
                <kbd>{i + 1}</kbd>
                <b>{c.name}</b>
                <span className="rule">{c.about}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {mayAnswer && reasoning && (
        <form className="reason" onSubmit={deny}>
          <input
            className="input"
            autoFocus
            aria-label={w.reason}
            placeholder={w.reason}
            value={reason}
            onChange={(e) => setReason(e.target.value)}
          />
          <Button no type="submit" disabled={busy}>
            {w.deny}
          </Button>
        </form>
      )}
    </>
  );
}

/** A sentence of the host, with what stands in backticks as code. */
function withCode(text: string): ReactNode[] | string {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return exactText(text);
  return parts.map((part, i) => (i % 2 === 1 ? <code key={i}>{exactText(part)}</code> : exactText(part)));
}

function nameOf(s: Suggestion, w: { once: string; session: string; always: string }): string {
  return { once: w.once, session: w.session, always: w.always }[s.scope] ?? s.label;
}
