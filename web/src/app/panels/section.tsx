/** The sections of a long panel, and the entries in them. */
import { type ReactNode, useId, useState } from "react";
import type { Standing } from "./extensionwords";

/** A fold whose content is made when it is opened for the first time, and asks for nothing before. */
export function Section({ title, open: first = false, children }: { title: string; open?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(first);
  const [seen, setSeen] = useState(first);
  return (
    <details
      className="section"
      open={open}
      onToggle={(e) => {
        setOpen(e.currentTarget.open);
        if (e.currentTarget.open) setSeen(true);
      }}
    >
      <summary>
        <h2>{title}</h2>
      </summary>
      <div className="sectionbody">{seen && children}</div>
    </details>
  );
}

const shapes: Record<Standing, string> = { done: "note done", off: "note", fail: "note fail", wait: "note wait", live: "note live" };

/** Something with a state, words about it, and what can be done with it. */
export function Entry({
  name,
  mono,
  standing,
  state,
  about,
  problem,
  actions,
  children,
}: {
  name: string;
  mono?: boolean;
  standing: Standing;
  state: string;
  about?: ReactNode;
  problem?: string | undefined;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  const id = useId();
  return (
    <li className="entry" aria-labelledby={id}>
      <span className={shapes[standing]} aria-hidden="true" />
      <span className="entryname">
        <b id={id} className={mono ? "mono" : ""}>
          {name}
        </b>
        <span className={standing === "fail" ? "err" : "t3"}>{state}</span>
      </span>
      <div className="entrybody">
        {about && <div className="quiet">{about}</div>}
        {problem && <p className="quiet err">{problem}</p>}
        {children}
        {actions && <div className="acts">{actions}</div>}
      </div>
    </li>
  );
}

/** A text behind a word, made when it is opened. */
export function Fold({ title, children }: { title: string; children(): ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="numbers" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{title}</summary>
      {open && children()}
    </details>
  );
}

/** Text of a machine in a box that scrolls and can be reached by the keyboard. */
export function Machine({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre className="term output wrap" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

/** Names of things, in a line. */
export function Names({ title, of }: { title: string; of: readonly string[] | undefined }) {
  if (!of?.length) return null;
  return (
    <p className="quiet">
      {title}: <span className="mono">{of.join(", ")}</span>
    </p>
  );
}
