import type { ExtensionInfo, ExtensionState } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay, useSession } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { extensionWords, type Standing } from "./extensionwords";
import { Agents, Hooks, Skills, Tools } from "./Lists";
import { Memory } from "./Memory";
import { Answered, Problems } from "./pane";
import { Entry, Fold, Names, Section } from "./section";
import { Servers } from "./Servers";

/** What the session has beside its model: each kind in a section, which asks when it is opened. */
export default function ExtensionsPanel() {
  const w = useWords(extensionWords);
  return (
    <>
      <Section title={w.extensions} open>
        <Extensions />
      </Section>
      <Section title={w.servers} open>
        <Servers />
      </Section>
      <Section title={w.skills}>
        <Skills />
      </Section>
      <Section title={w.agents}>
        <Agents />
      </Section>
      <Section title={w.tools}>
        <Tools />
      </Section>
      <Section title={w.hooks}>
        <Hooks />
      </Section>
      <Section title={w.memory}>
        <Memory />
      </Section>
    </>
  );
}

const standings: Record<ExtensionState, Standing> = {
  found: "off",
  loaded: "done",
  disabled: "off",
  untrusted: "wait",
  shadowed: "off",
  failed: "fail",
  stopped: "fail",
};

function Extensions() {
  const w = useWords(extensionWords);
  const { sessionId } = useSession();
  const answer = useAnswer("list_extensions", {}, { sessionId });
  return (
    <Answered of={answer}>
      {(list) => (
        <>
          <Problems of={list.problems} />
          {!list.extensions?.length && <p className="quiet">{w.noExtensions}</p>}
          <ul className="entries">
            {list.extensions?.map((e) => (
              <Extension key={`${e.id} ${e.path}`} extension={e} changed={answer.reload} />
            ))}
          </ul>
        </>
      )}
    </Answered>
  );
}

function Extension({ extension: e, changed }: { extension: ExtensionInfo; changed(): void }) {
  const w = useWords(extensionWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const enable = useAction(async (enabled: boolean) => {
    await client.call("enable_extension", { id: e.id, enabled });
    // The host says it for sessions that begin; this one begins its extensions again.
    await client.call("reload", {}, { sessionId }).finally(changed);
  });
  const name = e.name || e.id;
  const adds = [
    e.tools?.length && w.toolsOf(e.tools.length),
    e.commands?.length && w.commandsOf(e.commands.length),
    e.hooks?.length && w.hooksOf(e.hooks.length),
    e.models?.length && w.modelsOf(e.models.length),
  ].filter(Boolean);
  const off = e.state === "disabled";
  return (
    <Entry
      name={name}
      standing={standings[e.state] ?? "off"}
      state={[w[e.state] ?? e.state, e.version].filter(Boolean).join(" · ")}
      problem={e.problem}
      about={
        <>
          {adds.length > 0 && <div>{adds.join(" · ")}</div>}
          <div>{e.path}</div>
        </>
      }
      actions={
        may &&
        e.state !== "shadowed" && (
          <Button small disabled={enable.busy} aria-label={off ? w.enableIt(name) : w.disableIt(name)} onClick={() => void enable.run(off)}>
            {off ? w.enable : w.disable}
          </Button>
        )
      }
    >
      <ErrorLine error={enable.error} />
      {(adds.length > 0 || e.unsupported?.length) && (
        <Fold title={w.details}>
          {() => (
            <>
              <Names title={w.tools} of={e.tools} />
              <Names title={w.commands} of={e.commands} />
              <Names title={w.events} of={e.hooks} />
              <Names title={w.models} of={e.models} />
              <Names title={w.unsupported} of={e.unsupported} />
            </>
          )}
        </Fold>
      )}
    </Entry>
  );
}
