import { type FormEvent, useState } from "react";
import type { ModelInfo } from "../../protocol/index";
import { useAction, useClient } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { providersOf } from "./models";
import { startWords } from "./startwords";
import "./start.css";

/** Enters the key of a provider: it is stored, tried at once, and discarded when the provider refuses it. */
export default function AddKey({ models, onDone, onClose }: { models: readonly ModelInfo[]; onDone(ref: string): void; onClose(): void }) {
  const w = useWords(startWords);
  const client = useClient();
  const providers = providersOf(models);
  const [provider, setProvider] = useState(providers[0] ?? "");
  const [key, setKey] = useState("");
  const [note, setNote] = useState("");
  const [usable, setUsable] = useState<{ refs: string[]; said: string }>();
  const [ref, setRef] = useState("");
  const test = useAction(async () => {
    setNote("");
    await client.call("set_credential", { provider, key: key.trim() });
    const { models: all } = await client.call("list_models", { query: provider });
    const refs = (all ?? []).map((m) => m.ref).filter((r) => r === provider || r.startsWith(`${provider}/`));
    const first = refs[0];
    if (!first) throw new Error(w.noModels(provider));
    const got = await client.call("test_model", { model: first });
    if (got.code === "auth_failed") {
      await client.call("set_credential", { provider, key: "" });
      setKey("");
      setNote(w.keyDiscarded);
      throw new Error(got.problem);
    }
    setKey("");
    setRef(first);
    setUsable({ refs, said: got.problem ? `${got.problem} ${w.keyStored}` : w.works(got.ref, got.latencyMs) });
  });
  const use = useAction(async () => {
    await client.call("set_config", { key: "model.name", value: JSON.stringify(ref) });
    onDone(ref);
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void (usable ? use.run() : test.run());
  };
  return (
    <Dialog open onClose={onClose} title={usable ? w.chooseModel : w.keyTitle} about={usable ? usable.said : w.keyKept}>
      <form onSubmit={submit}>
        {usable ? (
          <div className="field">
            <label htmlFor="key-model">{w.model}</label>
            <select id="key-model" className="input" value={ref} onChange={(e) => setRef(e.target.value)}>
              {usable.refs.map((r) => (
                <option key={r}>{r}</option>
              ))}
            </select>
          </div>
        ) : (
          <>
            <div className="field">
              <label htmlFor="key-provider">{w.provider}</label>
              <select id="key-provider" className="input" value={provider} onChange={(e) => setProvider(e.target.value)}>
                {providers.map((p) => (
                  <option key={p}>{p}</option>
                ))}
              </select>
            </div>
            <div className="field">
              <label htmlFor="key-key">{w.apiKey}</label>
              <input
                id="key-key"
                className="input mono"
                type="password"
                autoComplete="off"
                spellCheck={false}
                value={key}
                onChange={(e) => setKey(e.target.value)}
                required
              />
            </div>
          </>
        )}
        {test.busy && <p className="t3 said">{w.testing}</p>}
        <ErrorLine error={test.error ?? use.error} />
        {note && <p className="t2">{note}</p>}
        <div className="acts">
          <Button onClick={onClose}>{w.cancel}</Button>
          <Button look="ink" type="submit" disabled={test.busy || use.busy || (!usable && key.trim() === "")}>
            {usable ? w.useModel : w.testKey}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
