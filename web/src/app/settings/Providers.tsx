import { Check, CircleAlert, TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { ModelInfo, ModelTest } from "../../protocol/index";
import { useAction, useClient, useMay } from "../host/context";
import { Button, Dialog, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { duration } from "../words/format";
import { useWords } from "../words/index";
import { Sure, Table } from "./parts";
import { settingsWords } from "./settingswords";
import { pageWords } from "./words";

/** From here on an answer counts as slow. */
const slowMs = 3000;

interface Provider {
  name: string;
  models: ModelInfo[];
}

/** Who has the models: what is before the slash, and aliases with a server of their own. */
function providersOf(models: readonly ModelInfo[]): Provider[] {
  const all = new Map<string, ModelInfo[]>();
  for (const m of models) {
    const name = m.ref.includes("/") ? m.ref.slice(0, m.ref.indexOf("/")) : m.ref;
    all.set(name, [...(all.get(name) ?? []), m]);
  }
  return [...all].map(([name, of]) => ({ name, models: of }));
}

/** A row for each provider: whether it has a key, how its last test went, another key. */
export function Providers({ models, onChanged }: { models: readonly ModelInfo[]; onChanged(): void }) {
  const w = useWords(settingsWords);
  // Those without a key are offered where one is added.
  const all = providersOf(models).filter((p) => p.models.some((m) => m.hasKey) || !p.models[0]?.ref.includes("/"));
  if (all.length === 0) return <p className="t3 said">{w.noProviders}</p>;
  return (
    <Table
      label={w.providers}
      head={[{ name: w.name }, { name: w.modelList }, { name: w.key }, { name: w.lastTest }, { name: w.actions, hidden: true }]}
    >
      {all.map((p) => (
        <Row key={p.name} provider={p} onChanged={onChanged} />
      ))}
    </Table>
  );
}

function Row({ provider: p, onChanged }: { provider: Provider; onChanged(): void }) {
  const w = useWords(settingsWords);
  const client = useClient();
  const may = useMay("control");
  const [asks, setAsks] = useState<"set" | "remove">();
  const [result, setResult] = useState<ModelTest>();
  const hasKey = p.models.some((m) => m.hasKey);
  const first = p.models.find((m) => m.hasKey)?.ref ?? p.models[0]?.ref ?? p.name;
  const test = useAction(async () => setResult(await client.call("test_model", { model: first })));
  const remove = useAction(async () => {
    await client.call("set_credential", { provider: p.name, key: "" });
    setAsks(undefined);
    setResult(undefined);
    onChanged();
  });
  return (
    <tr className={hasKey ? "" : "off"}>
      <td className="mono">{p.name}</td>
      <td className="num">{w.models_(p.models.length)}</td>
      <td>{hasKey ? w.hasKey : w.noKey}</td>
      <td>
        {test.busy ? <span className="t3">{w.testing}</span> : result && <Result of={result} />}
        <ErrorLine error={test.error} />
      </td>
      <td className="acts">
        {may && (
          <>
            {hasKey && (
              <Button small look="plain" aria-label={`${w.test}: ${p.name}`} disabled={test.busy} onClick={() => void test.run()}>
                {w.test}
              </Button>
            )}
            <Button
              small
              look={result?.code === "auth_failed" ? "edge" : "plain"}
              aria-label={`${w.setKey}: ${p.name}`}
              onClick={() => setAsks("set")}
            >
              {w.setKey}
            </Button>
            {hasKey && (
              <Button small look="plain" no aria-label={`${w.removeKey}: ${p.name}`} onClick={() => setAsks("remove")}>
                {w.removeKey}
              </Button>
            )}
          </>
        )}
        {asks === "set" && (
          <SetKey
            provider={p.name}
            model={first}
            onDone={(r) => {
              setAsks(undefined);
              setResult(r);
              onChanged();
            }}
            onClose={() => setAsks(undefined)}
          />
        )}
        {asks === "remove" && (
          <Sure
            title={w.removeKeyOf(p.name)}
            about={w.removeKeyAbout}
            yes={w.removeKey}
            busy={remove.busy}
            error={remove.error}
            onYes={() => void remove.run()}
            onClose={() => setAsks(undefined)}
          />
        )}
      </td>
    </tr>
  );
}

function Result({ of: t }: { of: ModelTest }) {
  const w = useWords(settingsWords);
  if (t.problem) {
    return (
      <span className="state err">
        <Icon of={CircleAlert} small />
        {t.problem}
      </span>
    );
  }
  const slow = t.latencyMs >= slowMs;
  return (
    <span className={slow ? "state warn" : "state ok"}>
      <Icon of={slow ? TriangleAlert : Check} small />
      {slow ? w.slow(duration(t.latencyMs)) : w.works(t.latencyMs)}
    </span>
  );
}

/** Takes a key: it is in the field alone until it is sent, and nowhere in the page afterwards. */
function SetKey({
  provider,
  model,
  onDone,
  onClose,
}: {
  provider: string;
  model: string;
  onDone(result: ModelTest): void;
  onClose(): void;
}) {
  const w = useWords(settingsWords);
  const page = useWords(pageWords);
  const client = useClient();
  const [key, setKey] = useState("");
  const save = useAction(async () => {
    await client.call("set_credential", { provider, key: key.trim() });
    setKey("");
    onDone(await client.call("test_model", { model }));
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void save.run();
  };
  return (
    <Dialog open onClose={onClose} title={w.setKeyOf(provider)} about={w.modelsAbout}>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="provider-key">{w.newKey}</label>
          <input
            id="provider-key"
            className="input mono"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(e) => setKey(e.target.value)}
            required
          />
        </div>
        {save.busy && <p className="t3 said">{w.testing}</p>}
        <ErrorLine error={save.error} />
        <div className="acts">
          <Button onClick={onClose}>{page.cancel}</Button>
          <Button look="ink" type="submit" disabled={save.busy || key.trim() === ""}>
            {w.saveKey}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
