import { useId, useState } from "react";
import { cleanText } from "../../display/index";
import type { ListedTool } from "../../protocol/index";
import { useAnswer, useLive, useMay, useSession } from "../host/context";
import { duration } from "../words/format";
import { useWords } from "../words/index";
import { extensionWords, type Standing } from "./extensionwords";
import { Answered, Problems } from "./pane";
import { Entry, Fold, Machine, Names } from "./section";

/** How many tools are drawn; one finds the others by their names. */
const maxTools = 100;

type Words = (typeof extensionWords)["en"];
const founds: Record<string, [Standing, keyof Words]> = {
  ok: ["done", "ok"],
  shadowed: ["off", "shadowed"],
  untrusted: ["wait", "untrusted"],
  changed: ["wait", "changed"],
  broken: ["fail", "broken"],
};

function found(w: Words, state: string): { standing: Standing; state: string } {
  const [standing, word] = founds[state] ?? ["off", undefined];
  return { standing, state: word ? (w[word] as string) : state };
}

export function Skills() {
  const w = useWords(extensionWords);
  const { sessionId } = useSession();
  const answer = useAnswer("list_skills", {}, { sessionId });
  return (
    <Answered of={answer}>
      {(list) => (
        <>
          <Problems of={list.problems} />
          {!list.skills?.length && <p className="quiet">{w.noSkills}</p>}
          <ul className="entries">
            {list.skills?.map((s) => (
              <Entry
                key={s.path}
                name={s.name}
                {...found(w, s.state)}
                problem={s.problems?.join(" ")}
                about={
                  <>
                    {s.description && <div>{s.description}</div>}
                    {s.entry && <div>{w.program}</div>}
                    <div>{s.path}</div>
                  </>
                }
              >
                {s.state === "ok" && <Fold title={w.details}>{() => <SkillText name={s.name} />}</Fold>}
              </Entry>
            ))}
          </ul>
        </>
      )}
    </Answered>
  );
}

function SkillText({ name }: { name: string }) {
  const { sessionId } = useSession();
  const answer = useAnswer("list_skills", { name }, { sessionId });
  return (
    <Answered of={answer}>
      {(list) => <Machine text={cleanText(list.skills?.find((s) => s.text !== undefined)?.text ?? "")} label={name} />}
    </Answered>
  );
}

export function Agents() {
  const w = useWords(extensionWords);
  const workDir = useLive((l) => l.meta.workDir ?? "");
  const answer = useAnswer("list_agents", workDir ? { workDir } : {});
  return (
    <Answered of={answer}>
      {(list) => (
        <>
          <Problems of={list.problems} />
          {!list.agents?.length && <p className="quiet">{w.noAgents}</p>}
          <ul className="entries">
            {list.agents?.map((a) => (
              <Entry key={`${a.scope} ${a.name} ${a.path}`} name={a.name} {...found(w, a.state)} problem={a.problem} about={a.description}>
                <Fold title={w.details}>
                  {() => (
                    <>
                      <Names title={w.model} of={a.model ? [a.model] : []} />
                      <Names title={w.tools} of={a.tools} />
                      <Names title={w.skills} of={a.skills} />
                      <Names title={w.file} of={a.path ? [a.path] : []} />
                      {a.prompt && <Machine text={cleanText(a.prompt)} label={a.name} />}
                    </>
                  )}
                </Fold>
              </Entry>
            ))}
          </ul>
        </>
      )}
    </Answered>
  );
}

/** The tools whose names have the words in them. */
export function matching(tools: readonly ListedTool[], query: string): ListedTool[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  return tools.filter((t) => parts.every((p) => t.name.toLowerCase().includes(p)));
}

export function Tools() {
  const w = useWords(extensionWords);
  const { sessionId } = useSession();
  const id = useId();
  const [query, setQuery] = useState("");
  const answer = useAnswer("list_tools", {}, { sessionId, again: (c) => c.mcp.includes(sessionId) });
  return (
    <Answered of={answer}>
      {(list) => {
        const fit = matching(list.tools ?? [], query);
        return (
          <>
            {!list.tools?.length && <p className="quiet">{w.noTools}</p>}
            {(list.tools?.length ?? 0) > 8 && (
              <>
                <label className="sr" htmlFor={id}>
                  {w.filterTools}
                </label>
                <input
                  id={id}
                  className="input"
                  type="search"
                  placeholder={w.filterTools}
                  value={query}
                  onChange={(e) => setQuery(e.target.value)}
                />
              </>
            )}
            <ul className="entries">
              {fit.slice(0, maxTools).map((t) => (
                <Entry
                  key={`${t.name} ${t.server}`}
                  mono
                  name={t.name}
                  standing={t.deferred ? "off" : "done"}
                  state={[t.deferred && w.deferred, t.server || t.extension].filter(Boolean).join(" · ")}
                >
                  <Fold title={w.details}>{() => <Machine text={cleanText(t.description)} label={t.name} />}</Fold>
                </Entry>
              ))}
            </ul>
            {fit.length > maxTools && <p className="quiet">{w.moreTools(fit.length - maxTools)}</p>}
            {(list.omitted ?? 0) > 0 && <p className="quiet">{w.omitted(list.omitted ?? 0)}</p>}
          </>
        );
      }}
    </Answered>
  );
}

export function Hooks() {
  const w = useWords(extensionWords);
  const { sessionId } = useSession();
  const may = useMay("control");
  const answer = useAnswer("list_hooks", {}, { sessionId, enabled: may });
  if (!may) return <p className="quiet">{w.mayNot}</p>;
  return (
    <Answered of={answer}>
      {(list) => (
        <>
          <Problems of={list.problems} />
          {!list.hooks?.length && <p className="quiet">{w.noHooks}</p>}
          <ul className="entries">
            {list.hooks?.map((h) => (
              <Entry
                key={`${h.source} ${h.event} ${h.command}`}
                name={h.event}
                {...found(w, h.state)}
                problem={h.problem}
                about={[h.matcher || w.every, duration(h.timeoutMs), h.blocks && w.blocks, h.source].filter(Boolean).join(" · ")}
              >
                <Machine text={cleanText(h.command)} label={h.event} />
              </Entry>
            ))}
          </ul>
        </>
      )}
    </Answered>
  );
}
