import { type FormEvent, useState } from "react";
import type { ConfigEntry } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { choicesOf, groupOf, unquoted } from "./config";
import { Answered, OnlyLooks } from "./parts";
import { settingsWords } from "./settingswords";
import { pageWords } from "./words";

/** Every key of the configuration with its value in force and where it is written; what may be set is set here. */
export default function Configuration() {
  const w = useWords(settingsWords);
  const may = useMay("control");
  const config = useAnswer("get_config", {}, { enabled: may });
  const [text, setText] = useState("");
  const [edits, setEdits] = useState<ConfigEntry>();
  if (!may) return <OnlyLooks hidden />;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (e: ConfigEntry) => words.every((x) => `${e.key} ${e.doc ?? ""}`.toLowerCase().includes(x));
  return (
    <>
      <p className="lead">{w.configAbout}</p>
      <div className="field">
        <input className="input" aria-label={w.find} placeholder={w.find} value={text} onChange={(e) => setText(e.target.value)} />
      </div>
      <Answered of={config}>
        {(c) => {
          const found = (c.entries ?? []).filter(fits);
          const groups = [...new Set(found.map((e) => groupOf(e.key)))];
          return (
            <>
              {c.notices?.map((n) => (
                <p key={n} className="warn said">
                  {n}
                </p>
              ))}
              {found.length === 0 && <p className="t3 said">{w.noKeys}</p>}
              {groups.map((g) => (
                <section key={g} aria-label={g}>
                  <h2 className="h2">{g}</h2>
                  <ul className="rows">
                    {found
                      .filter((e) => groupOf(e.key) === g)
                      .map((e) => (
                        <Row key={e.key} entry={e} onEdit={() => setEdits(e)} />
                      ))}
                  </ul>
                </section>
              ))}
            </>
          );
        }}
      </Answered>
      {edits && (
        <Edit
          entry={edits}
          onDone={() => {
            setEdits(undefined);
            config.reload();
          }}
          onClose={() => setEdits(undefined)}
        />
      )}
    </>
  );
}

function Row({ entry: e, onEdit }: { entry: ConfigEntry; onEdit(): void }) {
  const w = useWords(settingsWords);
  return (
    <li>
      <span className="main-of">
        <b className="mono">{e.key}</b> <span className="mono">{e.value}</span>{" "}
        <span className="t3">{e.source === "default" ? w.byDefault : e.source}</span>
        <span className="cfgdoc">{e.doc}</span>
      </span>
      {e.settable && (
        <Button small look="plain" aria-label={`${w.change}: ${e.key}`} onClick={onEdit}>
          {w.change}
        </Button>
      )}
    </li>
  );
}

function Edit({ entry: e, onDone, onClose }: { entry: ConfigEntry; onDone(): void; onClose(): void }) {
  const w = useWords(settingsWords);
  const page = useWords(pageWords);
  const client = useClient();
  const choices = choicesOf(e);
  const [value, setValue] = useState(unquoted(e.value));
  const set = useAction(async (to: string) => {
    await client.call("set_config", { key: e.key, value: to });
    tell(w.saved(e.key), { bad: false });
    onDone();
  });
  const submit = (ev: FormEvent) => {
    ev.preventDefault();
    void set.run(value);
  };
  return (
    <Dialog open onClose={onClose} title={e.key} {...(e.doc ? { about: e.doc } : {})}>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="config-value">{w.value}</label>
          {choices.length > 0 ? (
            <select id="config-value" className="input" value={value} onChange={(ev) => setValue(ev.target.value)}>
              {!choices.includes(value) && <option value={value}>{value}</option>}
              {choices.map((c) => (
                <option key={c}>{c}</option>
              ))}
            </select>
          ) : (
            <input
              id="config-value"
              className="input mono"
              autoComplete="off"
              spellCheck={false}
              value={value}
              onChange={(ev) => setValue(ev.target.value)}
            />
          )}
          <span className="t3">{[e.type && w.type(e.type), e.default && w.defaultIs(e.default)].filter(Boolean).join(" ")}</span>
        </div>
        <ErrorLine error={set.error} />
        <div className="acts">
          <Button look="plain" disabled={set.busy || e.source === "default"} onClick={() => void set.run("")}>
            {w.useDefaultValue}
          </Button>
          <Button onClick={onClose}>{page.cancel}</Button>
          <Button look="ink" type="submit" disabled={set.busy}>
            {w.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
