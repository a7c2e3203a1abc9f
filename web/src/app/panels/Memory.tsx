import { type FormEvent, useId, useState } from "react";
import { cleanText } from "../../display/index";
import { useAction, useAnswer, useClient, useMay, useSession } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { announce } from "../parts/tell";
import { bytes, short } from "../words/format";
import { useWords } from "../words/index";
import { extensionWords } from "./extensionwords";
import { Answered } from "./pane";
import { Entry, Fold, Machine } from "./section";

const scopes = ["project", "user", "daily"] as const;

/** The notes that the session begins with, and a place to add one. */
export function Memory() {
  const w = useWords(extensionWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const id = useId();
  const [scope, setScope] = useState<(typeof scopes)[number]>("project");
  const [text, setText] = useState("");
  const answer = useAnswer("get_memory", {}, { sessionId, enabled: may });
  const add = useAction(async () => {
    await client.call("add_memory", { scope, text: text.trim() }, { sessionId });
    setText("");
    answer.reload();
    announce(w.added);
  });
  if (!may) return <p className="quiet">{w.mayNot}</p>;
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void add.run();
  };
  return (
    <>
      <Answered of={answer}>
        {(view) => {
          const files = view.files?.filter((f) => f.bytes > 0) ?? [];
          return (
            <>
              {view.problem && <p className="quiet err">{view.problem}</p>}
              {files.length === 0 && <p className="quiet">{w.noMemory}</p>}
              <ul className="entries">
                {files.map((f) => (
                  <Entry
                    key={f.path}
                    name={scopes.find((s) => s === f.scope) ? w[f.scope as (typeof scopes)[number]] : f.scope}
                    standing="done"
                    state={bytes(f.bytes)}
                    about={f.path}
                  >
                    {f.text && <Fold title={w.details}>{() => <Machine text={cleanText(f.text ?? "")} label={f.path} />}</Fold>}
                  </Entry>
                ))}
              </ul>
              {view.tokens > 0 && <p className="quiet">{w.tokensTold(short(view.tokens))}</p>}
            </>
          );
        }}
      </Answered>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor={`${id}-text`}>{w.addNote}</label>
          <textarea id={`${id}-text`} className="input" rows={2} value={text} onChange={(e) => setText(e.target.value)} />
        </div>
        <div className="acts">
          <label className="t2" htmlFor={`${id}-scope`}>
            {w.where}
          </label>
          <select id={`${id}-scope`} className="input grow" value={scope} onChange={(e) => setScope(e.target.value as typeof scope)}>
            {scopes.map((s) => (
              <option key={s} value={s}>
                {w[s]}
              </option>
            ))}
          </select>
          <Button type="submit" disabled={add.busy || text.trim() === ""}>
            {w.add}
          </Button>
        </div>
        <ErrorLine error={add.error} />
      </form>
    </>
  );
}
