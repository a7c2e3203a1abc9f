import { type FormEvent, useState } from "react";
import type { Dialog, Question, UIRequest } from "../../protocol/index";
import { useClient, useMay, useSession } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { Markdown } from "../text/Markdown";
import { safeHref } from "../text/links";
import { exactText, literalText } from "../text/safe";
import { useWords } from "../words/index";
import { ComponentSheet } from "./ComponentSheet";
import { NotArrived, useAnswering } from "./Questions";
import { questionsWords } from "./words";

interface Asked {
  uiId: string;
  dialog: Dialog;
  busy: boolean;
  /** Whether this page may agree to what is of lasting effect. */
  control: boolean;
  answer(value: unknown): void;
}

/** A dialog of a tool, an extension or a server: its kind says what is asked, the host checks what is answered. */
export function DialogSheet({ request }: { request: UIRequest }) {
  const w = useWords(questionsWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("answer");
  const control = useMay("control");
  const { answer, busy, error } = useAnswering((value: unknown) => client.call("answer_ui", { uiId: request.uiId, value }, { sessionId }));
  const { data: dialog } = request;
  const title = dialog.title || (dialog.kind === "plan" ? w.plan : (dialog.questions?.[0]?.header ?? w.question));
  return (
    <>
      <div className="top">
        <span className="lampdot" />
        <h2 id="asked" className="grow">
          {exactText(title)}
        </h2>
      </div>
      {(dialog.message || dialog.source || dialog.subagent) && (
        <p className="why">
          {dialog.subagent ? w.subagent(dialog.subagent.agent) : dialog.source ? w.askedBy(exactText(dialog.source)) : ""}{" "}
          {exactText(dialog.message ?? "")}
        </p>
      )}
      <ErrorLine error={error} />
      <NotArrived busy={busy} />
      {may && !control && (dialog.control || dialog.kind === "plan") && <p className="why">{w.ownerOnly}</p>}
      {may && <Kind uiId={request.uiId} dialog={dialog} busy={busy} control={control} answer={answer} />}
    </>
  );
}

function Kind(props: Asked) {
  const w = useWords(questionsWords);
  const { dialog, busy, answer } = props;
  switch (dialog.kind) {
    case "question":
      return <Ask {...props} />;
    case "confirm":
      return (
        <div className="acts">
          <Button data-choice="" onClick={() => answer(true)} look="lamp" disabled={busy || (dialog.control && !props.control)}>
            <kbd>1</kbd> {w.yes}
          </Button>
          <Button data-choice="" data-refuse="" onClick={() => answer(false)} disabled={busy}>
            <kbd>2</kbd> {w.no}
          </Button>
        </div>
      );
    case "select":
      return (
        <ol className="choices">
          {(dialog.options ?? []).map((o, i) => (
            <li key={o.label}>
              <button type="button" className="choice" data-choice="" disabled={busy} onClick={() => answer(o.label)}>
                <kbd>{i + 1}</kbd>
                <b>{exactText(o.label)}</b>
                <span className="rule">{exactText(o.description ?? "")}</span>
              </button>
            </li>
          ))}
          <Close {...props} />
        </ol>
      );
    case "plan":
      return <Plan {...props} />;
    case "input":
    case "editor":
      return <Write {...props} />;
    case "form":
      return <Form {...props} />;
    case "url": {
      const href = safeHref(dialog.url ?? "");
      return (
        <>
          <p className="why">
            <code>{literalText(dialog.url ?? "")}</code>
          </p>
          <div className="acts">
            <Button no data-refuse="" onClick={() => answer(false)} disabled={busy}>
              {w.decline}
            </Button>
            {href && (
              <a className="btn lamp" href={href} target="_blank" rel="noopener noreferrer" onClick={() => answer(true)}>
                {w.openAddress}
              </a>
            )}
          </div>
        </>
      );
    }
    default:
      return <ComponentSheet uiId={props.uiId} dialog={dialog} close={<Close {...props} />} onClose={() => answer(null)} />;
  }
}

function Close({ busy, answer }: Asked) {
  const w = useWords(questionsWords);
  return (
    <Button look="plain" data-refuse="" onClick={() => answer(null)} disabled={busy}>
      {w.close}
    </Button>
  );
}

function Ask(props: Asked) {
  const w = useWords(questionsWords);
  const questions = props.dialog.questions ?? [];
  const [picked, setPicked] = useState<string[][]>(() => questions.map(() => []));
  const [own, setOwn] = useState<string[]>(() => questions.map(() => ""));
  const set = <T,>(list: T[], i: number, v: T) => list.map((o, k) => (k === i ? v : o));
  const pick = (q: Question, i: number, label: string) => {
    const now = picked[i] ?? [];
    const has = now.includes(label);
    setPicked(set(picked, i, q.multiple ? (has ? now.filter((l) => l !== label) : [...now, label]) : has ? [] : [label]));
  };
  const answers = questions.map((_, i) => [...(picked[i] ?? []), ...(own[i]?.trim() ? [own[i].trim()] : [])]);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    props.answer(answers);
  };
  return (
    <form onSubmit={submit}>
      <div className="asks-list">
        {questions.map((q, i) => (
          <fieldset key={q.question} className="ask">
            <legend>{exactText(q.question)}</legend>
            {(q.options ?? []).map((o, n) => (
              <label key={o.label} className="option">
                {questions.length === 1 && <kbd>{n + 1}</kbd>}
                <input
                  {...(questions.length === 1 ? { "data-choice": "" } : {})}
                  type={q.multiple ? "checkbox" : "radio"}
                  name={`q${i}`}
                  checked={(picked[i] ?? []).includes(o.label)}
                  onChange={() => pick(q, i, o.label)}
                />
                <span>
                  <b>{exactText(o.label)}</b> <span className="t2">{exactText(o.description ?? "")}</span>
                </span>
              </label>
            ))}
            <input
              className="input"
              aria-label={w.own}
              placeholder={w.own}
              value={own[i]}
              onChange={(e) => setOwn(set(own, i, e.target.value))}
            />
          </fieldset>
        ))}
      </div>
      <div className="acts">
        <Close {...props} />
        <Button look="lamp" type="submit" disabled={props.busy || answers.every((a) => a.length === 0)}>
          {w.answer}
        </Button>
      </div>
    </form>
  );
}

function Plan(props: Asked) {
  const w = useWords(questionsWords);
  const [feedback, setFeedback] = useState("");
  const decide = (decision: string) => props.answer({ decision, ...(feedback.trim() ? { feedback: feedback.trim() } : {}) });
  return (
    <>
      <div className="view pad">
        <Markdown text={props.dialog.text ?? ""} />
      </div>
      <div className="reason">
        <input
          className="input"
          aria-label={w.feedback}
          placeholder={w.feedback}
          value={feedback}
          onChange={(e) => setFeedback(e.target.value)}
        />
      </div>
      <div className="acts">
        <Button look="lamp" data-choice="" onClick={() => decide("approve")} disabled={props.busy || !props.control}>
          <kbd>1</kbd> {w.approve}
        </Button>
        <Button data-choice="" onClick={() => decide("acceptEdits")} disabled={props.busy || !props.control}>
          <kbd>2</kbd> {w.acceptEdits}
        </Button>
        <Button data-choice="" data-refuse="" onClick={() => decide("revise")} disabled={props.busy}>
          <kbd>3</kbd> {w.revise}
        </Button>
      </div>
    </>
  );
}

function Write(props: Asked) {
  const w = useWords(questionsWords);
  const { dialog } = props;
  const [text, setText] = useState(dialog.text ?? "");
  const submit = (e: FormEvent) => {
    e.preventDefault();
    props.answer(text);
  };
  const common = { className: "input", "aria-label": dialog.title || w.answer, value: text, placeholder: dialog.placeholder };
  return (
    <form onSubmit={submit}>
      <div className="reason">
        {dialog.kind === "editor" ? (
          <textarea {...common} rows={10} onChange={(e) => setText(e.target.value)} />
        ) : (
          <input {...common} onChange={(e) => setText(e.target.value)} />
        )}
      </div>
      <div className="acts">
        <Close {...props} />
        <Button look="lamp" type="submit" disabled={props.busy}>
          {dialog.kind === "editor" ? w.save : w.answer}
        </Button>
      </div>
    </form>
  );
}

interface Property {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: string[];
  enumNames?: string[];
  oneOf?: { const: string; title?: string }[];
  items?: { enum?: string[]; anyOf?: { const: string; title?: string }[] };
  format?: string;
}

/** The choices of a field with their titles, as protocol/form reads them. */
function optionsOf(p: Property): { value: string; title: string }[] {
  const titled = p.oneOf ?? p.items?.anyOf ?? [];
  const plain = p.enum ?? p.items?.enum ?? [];
  return [
    ...titled.map((o) => ({ value: o.const, title: o.title || o.const })),
    ...plain.map((v, i) => ({ value: v, title: p.enumNames?.[i] || v })),
  ];
}

function Form(props: Asked) {
  const w = useWords(questionsWords);
  const schema = props.dialog.schema as { properties?: Record<string, Property>; required?: string[] } | undefined;
  const fields = Object.entries(schema?.properties ?? {});
  const [values, setValues] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(
      fields.flatMap(([name, p]) => (p.default === undefined ? (p.type === "boolean" ? [[name, false]] : []) : [[name, p.default]])),
    ),
  );
  const set = (name: string, v: unknown) =>
    setValues((all) => {
      const { [name]: _, ...rest } = all;
      return v === undefined || v === "" ? rest : { ...rest, [name]: v };
    });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    props.answer(values);
  };
  return (
    <form onSubmit={submit} className="form">
      {fields.map(([name, p]) => (
        <Field
          key={name}
          name={name}
          of={p}
          value={values[name]}
          required={schema?.required?.includes(name) ?? false}
          onChange={(v) => set(name, v)}
        />
      ))}
      <div className="acts">
        <Button no data-refuse="" onClick={() => props.answer(false)} disabled={props.busy}>
          {w.decline}
        </Button>
        <Button look="lamp" type="submit" disabled={props.busy}>
          {w.answer}
        </Button>
      </div>
    </form>
  );
}

function Field({
  name,
  of,
  value,
  required,
  onChange,
}: {
  name: string;
  of: Property;
  value: unknown;
  required: boolean;
  onChange(v: unknown): void;
}) {
  const id = `field-${name}`;
  const options = optionsOf(of);
  const list = Array.isArray(value) ? (value as string[]) : [];
  const number = of.type === "number" || of.type === "integer";
  const type = number ? "number" : ({ email: "email", uri: "url", date: "date" }[of.format ?? ""] ?? "text");
  return (
    <div className="field">
      <label htmlFor={id}>
        {exactText(of.title || name)}
        {required ? " *" : ""}
      </label>
      {of.type === "boolean" ? (
        <input id={id} type="checkbox" checked={value === true} onChange={(e) => onChange(e.target.checked)} />
      ) : of.type === "array" ? (
        <select
          id={id}
          className="input many"
          multiple
          value={list}
          onChange={(e) => onChange([...e.target.selectedOptions].map((o) => o.value))}
        >
          {options.map((o) => (
            <option key={o.value} value={o.value}>
              {exactText(o.title)}
            </option>
          ))}
        </select>
      ) : options.length > 0 ? (
        <select
          id={id}
          className="input"
          value={typeof value === "string" ? value : ""}
          required={required}
          onChange={(e) => onChange(e.target.value)}
        >
          <option value="">–</option>
          {options.map((o) => (
            <option key={o.value} value={o.value}>
              {exactText(o.title)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          className="input"
          type={type}
          step={of.type === "integer" ? 1 : "any"}
          required={required}
          value={typeof value === "string" || typeof value === "number" ? value : ""}
          onChange={(e) => onChange(number ? (e.target.value === "" ? undefined : e.target.valueAsNumber) : e.target.value)}
        />
      )}
      {of.description && <span className="t2">{exactText(of.description)}</span>}
    </div>
  );
}
