import { CircleAlert } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { codeOf, useClient, useLive, useMay, useStatus } from "../host/context";
import { Icon } from "../parts/controls";
import { announce, tell } from "../parts/tell";
import { setWaiting } from "../parts/title";
import { useCalm, useSheetKeys } from "./keys";
import { useWords } from "../words/index";
import { componentsOf } from "./components";
import { DialogSheet } from "./DialogSheet";
import { useAnsweredElsewhere } from "./elsewhere";
import { Permission } from "./Permission";
import { questionsWords } from "./words";
import "./questions.css";

/** What the session asks, in the place of the composer; without a question, the composer. */
export function Questions({ children }: { children: ReactNode }) {
  const w = useWords(questionsWords);
  const may = useMay("answer");
  useAnsweredElsewhere();
  const client = useClient();
  useEffect(() => void componentsOf(client), [client]);
  const permission = useLive((l) => l.permissions?.[0]);
  const dialog = useLive((l) => l.ui?.[0]);
  const waiting = useLive((l) => (l.permissions?.length ?? 0) + (l.ui?.length ?? 0));
  const id = useCalm(permission?.permissionId ?? dialog?.uiId ?? "");
  const box = useRef<HTMLDivElement>(null);
  const before = useRef("");
  useEffect(() => {
    if (id !== "") {
      announce(box.current?.querySelector("h2")?.textContent ?? w.question, { urgent: true });
      box.current?.focus();
    } else if (before.current !== "" && document.activeElement === document.body && matchMedia("(pointer: fine)").matches) {
      document.getElementById("composer")?.focus(); // what is typed next is a message
    }
    before.current = id;
  }, [id, w]);
  useSheetKeys(id, () => box.current);
  useEffect(() => {
    setWaiting(waiting > 0 ? w.waiting(waiting) : "");
    return () => setWaiting("");
  }, [waiting, w]);
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.key !== "F6" || id === "") return;
      e.preventDefault();
      box.current?.focus();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [id]);
  return (
    <>
      {/* What is written and attached stays while somebody is asked. */}
      <div hidden={id !== ""}>{children}</div>
      {id !== "" && sheet()}
    </>
  );

  function sheet() {
    return (
      <div ref={box} className="sheet" role="group" aria-labelledby="asked" tabIndex={-1} key={id}>
        {permission ? <Permission request={permission} /> : dialog && <DialogSheet request={dialog} />}
        <div className="sheetfoot">
          <span>{may ? w.everywhere : w.watching}</span>
          {waiting > 1 && <span className="grow">{w.more(waiting - 1)}</span>}
        </div>
      </div>
    );
  }
}

/** How long a sheet takes no input after it has appeared: who is typing then does not mean it, in milliseconds. */
const settleMs = 400;

/**
 * One answer to one question: sent once, told when it came second, and that it has not arrived.
 * The sheet closes by the host's event, not by the answer.
 */
export function useAnswering(send: (value: never) => Promise<unknown>): {
  answer: (value: unknown) => void;
  busy: boolean;
  error: Error | undefined;
} {
  const w = useWords(questionsWords);
  const [state, setState] = useState<{ busy: boolean; error?: Error }>({ busy: false });
  const since = useRef(Date.now());
  const answer = (value: unknown) => {
    if (state.busy || Date.now() - since.current < settleMs) return;
    setState({ busy: true });
    send(value as never).catch((e: Error) => {
      if (codeOf(e) === "conflict") tell(w.late); // the sheet is gone already, or goes soon
      setState({ busy: false, error: e });
    });
  };
  return { answer, busy: state.busy, error: state.error };
}

/** How long an answer may be on its way until that is said, in milliseconds. */
const slowMs = 1500;

/** Said while an answer is on its way and there is no connection, or one that takes long with it. */
export function NotArrived({ busy }: { busy: boolean }) {
  const w = useWords(questionsWords);
  const status = useStatus();
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    const timer = busy ? setTimeout(() => setSlow(true), slowMs) : undefined;
    return () => clearTimeout(timer);
  }, [busy]);
  if (!busy || (status.state === "connected" && !slow)) return null;
  return (
    <p className="errline" role="status">
      <Icon of={CircleAlert} small />
      {w.notArrived}
    </p>
  );
}
