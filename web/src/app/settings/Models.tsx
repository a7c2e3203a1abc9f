import { Ellipsis, Plus, Server } from "lucide-react";
import { useState } from "react";
import type { ModelInfo } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button, Icon, IconButton, Menu, MenuItem } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { money, short } from "../words/format";
import { useWords } from "../words/index";
import { configOf, settingOf } from "./config";
import { Answered, OnlyLooks, Table } from "./parts";
import { Providers } from "./Providers";
import { settingsWords } from "./settingswords";
import { lazy } from "../parts/lazy";

const AddKey = lazy(() => import("../places/AddKey"));
const LocalServers = lazy(() => import("../places/LocalServers"));
/** Models that are drawn; typing narrows the list. */
const maxShown = 100;

/** Providers with their keys, models with what they cost and can, and servers that a person looks for. */
export default function Models() {
  const w = useWords(settingsWords);
  const may = useMay("control");
  const models = useAnswer("list_models", {});
  const config = useAnswer("get_config", {}, { enabled: may });
  const [adds, setAdds] = useState<"key" | "server">();
  const done = () => {
    setAdds(undefined);
    models.reload();
    config.reload();
  };
  return (
    <>
      <p className="lead">{w.modelsAbout}</p>
      <OnlyLooks />
      {may && (
        <div className="found">
          <Icon of={Server} />
          <div className="grow">
            <b>{w.lookTitle}</b> <span className="t2">{w.lookAbout}</span>
          </div>
          <Button onClick={() => setAdds("server")}>{w.look}</Button>
        </div>
      )}
      <h2 className="h2">
        {w.providers}
        {may && (
          <Button small onClick={() => setAdds("key")}>
            <Icon of={Plus} small />
            {w.addKey}
          </Button>
        )}
      </h2>
      <Answered of={models}>
        {(m) => (
          <>
            <Providers models={m.models ?? []} onChanged={models.reload} />
            <List models={m.models ?? []} values={configOf(config.data)} onChanged={config.reload} />
          </>
        )}
      </Answered>
      <ErrorLine error={config.error} />

      {adds === "key" && <AddKey models={models.data?.models ?? []} onDone={done} onClose={done} />}
      {adds === "server" && <LocalServers onDone={done} onClose={done} />}
    </>
  );
}

/** What a model is used for, by the configuration. */
const uses = [
  ["model.name", "isDefault"],
  ["auxiliary.model", "isAuxiliary"],
] as const;
const tiers = ["haiku", "sonnet", "opus"] as const;

function List({ models, values, onChanged }: { models: readonly ModelInfo[]; values: ReadonlyMap<string, string>; onChanged(): void }) {
  const w = useWords(settingsWords);
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  // Those that can be used come first.
  const found = [...models]
    .sort((a, b) => Number(b.hasKey) - Number(a.hasKey))
    .filter((m) => words.every((x) => m.ref.toLowerCase().includes(x)));
  const usable = models.filter((m) => m.hasKey).length;
  const usedFor = (ref: string) => [
    ...uses.filter(([key]) => settingOf(values, key) === ref).map(([, word]) => w[word]),
    ...tiers.filter((t) => settingOf(values, `tiers.${t}`) === ref),
  ];
  if (models.length === 0) return <p className="t3 said">{w.noModels}</p>;
  return (
    <>
      <h2 className="h2">
        {w.modelList} <span className="t3 num">{w.usable(usable, models.length - usable)}</span>
      </h2>
      <div className="field">
        <input className="input" aria-label={w.filter} placeholder={w.filter} value={text} onChange={(e) => setText(e.target.value)} />
      </div>
      {found.length === 0 ? (
        <p className="t3 said">{w.noMatch}</p>
      ) : (
        <Table
          label={w.modelList}
          head={[
            { name: w.model },
            { name: w.context, right: true },
            { name: w.input, right: true },
            { name: w.output, right: true },
            { name: w.can },
            { name: w.usedFor },
            { name: w.actions, hidden: true },
          ]}
        >
          {found.slice(0, maxShown).map((m) => (
            <Row key={m.ref} model={m} usedFor={usedFor(m.ref)} onChanged={onChanged} />
          ))}
        </Table>
      )}
      {found.length > maxShown && <p className="t3 said">{w.restShown(found.length - maxShown)}</p>}
    </>
  );
}

function Row({ model: m, usedFor, onChanged }: { model: ModelInfo; usedFor: readonly string[]; onChanged(): void }) {
  const w = useWords(settingsWords);
  const client = useClient();
  const may = useMay("control");
  const use = useAction(async (key: string) => {
    await client.call("set_config", { key, value: JSON.stringify(m.ref) });
    onChanged();
  });
  const test = useAction(async () => {
    const got = await client.call("test_model", { model: m.ref });
    if (got.problem) throw new Error(got.problem);
    tell(`${m.ref}: ${w.works(got.latencyMs)}`, { bad: false });
  });
  const price = (usd: number | undefined) => (usd === undefined ? "" : usd === 0 ? w.free : money(usd));
  const can = m.hasKey ? [m.thinking && w.thinking, m.images && w.images].filter(Boolean).join(", ") : w.noWorkingKey;
  return (
    <tr className={m.hasKey ? "" : "off"}>
      <td className="mono">
        {m.ref}
        <ErrorLine error={use.error ?? test.error} />
      </td>
      <td className="r">{m.contextWindow > 0 && short(m.contextWindow)}</td>
      <td className="r">{price(m.price?.input)}</td>
      <td className="r">{price(m.price?.output)}</td>
      <td className="word">{can}</td>
      <td>{usedFor.join(", ")}</td>
      <td className="acts">
        {may && m.hasKey && (
          <Menu
            label={w.actionsOf(m.ref)}
            trigger={<IconButton of={Ellipsis} name={w.actionsOf(m.ref)} disabled={use.busy || test.busy} />}
          >
            <MenuItem onSelect={() => void test.run()}>{w.test}</MenuItem>
            <MenuItem onSelect={() => void use.run("model.name")}>{w.useDefault}</MenuItem>
            <MenuItem onSelect={() => void use.run("auxiliary.model")}>{w.useAuxiliary}</MenuItem>
          </Menu>
        )}
      </td>
    </tr>
  );
}
