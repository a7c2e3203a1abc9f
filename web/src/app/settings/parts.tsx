/** What the pages of the device share: answers with their states, questions before what cannot be undone, what a grant leaves out. */
import { type ReactNode, useId, useState } from "react";
import { Lock } from "lucide-react";
import { useMay } from "../host/context";
import { Button, Dialog, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { pageWords } from "./words";

interface Asked<T> {
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
  reload(): void;
}

/** What an answer shows: its content, or why there is none. What was there stays while it is asked again. */
export function Answered<T>({ of, children }: { of: Asked<T>; children(data: T): ReactNode }) {
  const w = useWords(pageWords);
  return (
    <>
      <ErrorLine error={of.error} action={w.again} onAction={of.reload} />
      {of.data === undefined ? of.loading && <p className="t3 said">{w.loading}</p> : children(of.data)}
    </>
  );
}

/** That this browser may look but change nothing; nothing for one with control. */
export function OnlyLooks({ hidden }: { hidden?: boolean }) {
  const w = useWords(pageWords);
  const may = useMay("control");
  if (may) return null;
  return (
    <p className="banner" role="note">
      <Icon of={Lock} />
      <span className="grow">{hidden ? w.hidden : w.onlyControl}</span>
    </p>
  );
}

/** A question before something is done. With a name it has to be typed: it cannot be undone. */
export function Sure({
  title,
  about,
  yes,
  name,
  busy,
  error,
  onYes,
  onClose,
  children,
}: {
  title: string;
  about: string;
  yes: string;
  name?: string;
  busy: boolean;
  error: Error | undefined;
  onYes(): void;
  onClose(): void;
  children?: ReactNode;
}) {
  const w = useWords(pageWords);
  const id = useId();
  const [typed, setTyped] = useState("");
  const ready = name === undefined || typed.trim() === name.trim();
  return (
    <Dialog open onClose={onClose} title={title} about={about}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (ready && !busy) onYes();
        }}
      >
        {children}
        {name !== undefined && (
          <div className="field">
            <label htmlFor={id}>{w.typeName(name)}</label>
            <input
              id={id}
              className="input"
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(e) => setTyped(e.target.value)}
            />
          </div>
        )}
        <ErrorLine error={error} />
        <div className="acts">
          <Button onClick={onClose}>{w.cancel}</Button>
          <Button no type="submit" disabled={!ready || busy}>
            {yes}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Pairs of a name and a value. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A table that scrolls by itself where the page is narrow. */
export function Table({
  head,
  label,
  children,
}: {
  head: readonly { name: string; right?: boolean; hidden?: boolean }[];
  label: string;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div className="wide" tabIndex={0} role="group" aria-label={label}>
      <table className="tbl">
        <thead>
          <tr>
            {head.map((h) => (
              <th key={h.name} scope="col" className={h.right ? "r" : ""}>
                {h.hidden ? <span className="sr">{h.name}</span> : h.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
