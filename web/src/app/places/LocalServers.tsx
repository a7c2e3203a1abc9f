import { type FormEvent, useState } from "react";
import type { ModelServer } from "../../protocol/index";
import { useAction, useAnswer, useClient } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { count } from "../words/format";
import { useWords } from "../words/index";
import { startWords } from "./startwords";
import "./start.css";

/** Wire formats by the names that people know; they are names and are not translated. */
const formats = {
  "openai-completions": "OpenAI Chat Completions",
  "openai-responses": "OpenAI Responses",
  "anthropic-messages": "Anthropic Messages",
  "google-generative-ai": "Google Gemini",
};

/** Looks for servers of models: at their usual ports, or at an address. A model is tried before it is kept. */
export default function LocalServers({ onDone, onClose }: { onDone(ref: string): void; onClose(): void }) {
  const w = useWords(startWords);
  const client = useClient();
  const found = useAnswer("list_server_models", {});
  const [other, setOther] = useState(false);
  const [baseUrl, setBaseUrl] = useState("http://127.0.0.1:8000/v1");
  const [api, setApi] = useState("openai-completions");
  const [key, setKey] = useState("");
  const [servers, setServers] = useState<readonly ModelServer[]>();
  const [named, setNamed] = useState("");
  const [note, setNote] = useState("");
  const list = useAction(async () => {
    const got = await client.call("list_server_models", { baseUrl, api, ...(key ? { key } : {}) });
    setNote(got.problem ?? "");
    setServers(got.servers?.length ? got.servers : [{ name: "", baseUrl, api, models: [] }]);
  });
  const use = useAction(async (s: ModelServer, model: string) => {
    const own = s.baseUrl === baseUrl && other && key !== "";
    const got = await client.call("add_endpoint", { baseUrl: s.baseUrl, api: s.api, model, ...(own ? { key } : {}) });
    if (got.problem) throw new Error(got.problem);
    await client.call("set_config", { key: "model.name", value: JSON.stringify(got.ref) });
    if (got.windowAssumed) tell(w.assumed(got.ref, count(got.contextWindow ?? 0)), { bad: false });
    onDone(got.ref);
  });
  const shown = other ? (servers ?? []) : (found.data?.servers ?? []);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void list.run();
  };
  return (
    <Dialog open onClose={onClose} title={other ? w.anotherAddress : w.localTitle} about={w.kept}>
      {other && (
        <form onSubmit={submit}>
          <div className="field">
            <label htmlFor="server-url">{w.address}</label>
            <input
              id="server-url"
              className="input mono"
              value={baseUrl}
              onChange={(e) => setBaseUrl(e.target.value)}
              pattern="https?://.+"
              required
            />
          </div>
          <div className="field">
            <label htmlFor="server-api">{w.wire}</label>
            <select id="server-api" className="input" value={api} onChange={(e) => setApi(e.target.value)}>
              {Object.entries(formats).map(([f, name]) => (
                <option key={f} value={f}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor="server-key">{w.keyOrNone}</label>
            <input
              id="server-key"
              className="input mono"
              type="password"
              autoComplete="off"
              value={key}
              onChange={(e) => setKey(e.target.value)}
            />
          </div>
          <p className="said">
            <Button type="submit" disabled={list.busy}>
              {w.listModels}
            </Button>
          </p>
        </form>
      )}
      {!other && found.loading && <p className="t3 said">{w.looking}</p>}
      {!other && found.data && shown.length === 0 && <p className="said">{w.noServers}</p>}
      {shown.map((s) => (
        <section key={s.baseUrl} className="server">
          <h3>{w.serverAt(s.name || s.baseUrl, s.baseUrl, s.models?.length ?? 0)}</h3>
          <ul>
            {s.models?.map((m) => (
              <li key={m}>
                <span className="mono grow trunc">{m}</span>
                <Button small disabled={use.busy} aria-label={`${w.useModel}: ${m}`} onClick={() => void use.run(s, m)}>
                  {w.useModel}
                </Button>
              </li>
            ))}
          </ul>
          {!s.models?.length && !other && <p className="t3">{w.noModelLoaded}</p>}
          {!s.models?.length && other && (
            <div className="field">
              <label htmlFor="server-model">{w.modelName}</label>
              <input id="server-model" className="input mono" value={named} onChange={(e) => setNamed(e.target.value)} />
              <Button small disabled={use.busy || named.trim() === ""} onClick={() => void use.run(s, named.trim())}>
                {w.useModel}
              </Button>
            </div>
          )}
        </section>
      ))}
      {use.busy && <p className="t3 said">{w.trying}</p>}
      {note && <p className="t2 said">{note}</p>}
      <ErrorLine error={found.error ?? list.error ?? use.error} />
      <div className="acts">
        {!other && <Button onClick={() => setOther(true)}>{w.anotherAddress}</Button>}
        {!other && (
          <Button disabled={found.loading} onClick={found.reload}>
            {w.lookAgain}
          </Button>
        )}
        <Button onClick={onClose}>{w.cancel}</Button>
      </div>
    </Dialog>
  );
}
