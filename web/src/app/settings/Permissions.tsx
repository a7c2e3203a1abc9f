import { useState } from "react";
import type { ConfigReport, ForeignRule, ForeignRules } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { listOf, unquoted } from "./config";
import { Answered, Facts, OnlyLooks, Table } from "./parts";
import { settingsWords } from "./settingswords";

/** What the lists of rules do, and what a folder of the list does. */
const lists = [
  ["permissions.allow", "allow"],
  ["permissions.ask", "ask"],
  ["permissions.deny", "deny"],
  ["permissions.additionalDirectories", "folder"],
] as const;

/** Rules with where each is written, those that were answered "always", and those of another program. */
export default function Permissions() {
  const w = useWords(settingsWords);
  const may = useMay("control");
  const [workDir, setWorkDir] = useState("");
  const projects = useAnswer("list_projects", {}, { again: (c) => c.projects, enabled: may });
  const config = useAnswer("get_config", workDir ? { workDir } : {}, { enabled: may });
  const always = useAnswer("list_rules", {}, { enabled: may });
  if (!may) return <OnlyLooks hidden />;
  return (
    <>
      <p className="lead">{w.permissionsAbout}</p>
      <div className="field">
        <label htmlFor="permissions-project">{w.forProject}</label>
        <select id="permissions-project" className="input" value={workDir} onChange={(e) => setWorkDir(e.target.value)}>
          <option value="">{w.onlyYours}</option>
          {projects.data?.projects?.map((p) => (
            <option key={p.projectId} value={p.root}>
              {p.root}
            </option>
          ))}
        </select>
      </div>
      <ErrorLine error={projects.error} />
      <Answered of={config}>{(c) => <Rules config={c} />}</Answered>
      <h2 className="h2">{w.always}</h2>
      <Answered of={always}>
        {(r) =>
          (r.projects ?? []).length === 0 ? (
            <p className="t3 said">{w.noAlways}</p>
          ) : (
            <>
              <p className="t3">{w.alwaysAbout(r.file)}</p>
              <Table label={w.always} head={[{ name: w.rule }, { name: w.project }]}>
                {r.projects?.flatMap((p) =>
                  (p.allow ?? []).map((rule) => (
                    <tr key={`${p.root} ${rule}`}>
                      <td className="mono">{rule}</td>
                      <td className="mono t3">{p.root}</td>
                    </tr>
                  )),
                )}
              </Table>
            </>
          )
        }
      </Answered>
      {workDir !== "" && <Foreign key={workDir} workDir={workDir} onTaken={always.reload} />}
    </>
  );
}

function Rules({ config }: { config: ConfigReport }) {
  const w = useWords(settingsWords);
  const entry = (key: string) => config.entries?.find((e) => e.key === key);
  const mode = entry("permissions.mode");
  const rules = lists.flatMap(([key, does]) => {
    const e = entry(key);
    return e ? listOf(e.value).map((rule) => ({ key, does, rule, source: e.source })) : [];
  });
  return (
    <>
      {mode && (
        <Facts
          of={[
            [
              w.mode,
              <span key="m">
                <span className="mono">{unquoted(mode.value)}</span> <span className="t3">{mode.source}</span>
              </span>,
            ],
          ]}
        />
      )}
      {config.notices?.map((n) => (
        <p key={n} className="warn said">
          {n}
        </p>
      ))}
      <h2 className="h2">{w.rules}</h2>
      {rules.length === 0 ? (
        <p className="t3 said">{w.noRules}</p>
      ) : (
        <Table label={w.rules} head={[{ name: w.rule }, { name: w.does }, { name: w.written }]}>
          {rules.map((r) => (
            <tr key={`${r.key} ${r.rule}`}>
              <td className="mono">{r.rule}</td>
              <td>{w[r.does]}</td>
              <td className="mono t3">{r.source}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

const open = (r: ForeignRule) => (r.as ?? []).length > 0 && !r.have;

/** Rules that allow in Claude Code's settings, of which a person picks those that count here. */
function Foreign({ workDir, onTaken }: { workDir: string; onTaken(): void }) {
  const w = useWords(settingsWords);
  const foreign = useAnswer("list_foreign_rules", { workDir });
  return (
    <>
      <h2 className="h2">{w.foreign}</h2>
      <p className="t3">{w.foreignAbout}</p>
      <Answered of={foreign}>
        {(f) => (
          <Pick
            of={f}
            workDir={workDir}
            onTaken={() => {
              foreign.reload();
              onTaken();
            }}
          />
        )}
      </Answered>
    </>
  );
}

function Pick({ of: f, workDir, onTaken }: { of: ForeignRules; workDir: string; onTaken(): void }) {
  const w = useWords(settingsWords);
  const client = useClient();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const take = useAction(async (rules: string[]) => {
    const got = await client.call("import_rules", { workDir, rules });
    tell(w.accepted(got.added), { bad: false });
    setPicked(new Set());
    onTaken();
  });
  const rules = (f.rules ?? []).filter((r) => open(r) && picked.has(r.rule)).flatMap((r) => r.as ?? []);
  const about = (r: ForeignRule) => {
    if (r.have) return w.have;
    const as = (r.as ?? []).join(", ");
    if (!as) return w.cannot(r.problem ?? "");
    return [as !== r.rule && w.here(as), r.as?.length === 1 && !as.includes("(") && w.everyCall(as)].filter(Boolean).join(", ");
  };
  return (
    <>
      {f.notices?.map((n) => (
        <p key={n} className="warn said">
          {n}
        </p>
      ))}
      {(f.rules ?? []).length === 0 && <p className="t3 said">{w.noForeign}</p>}
      <ul className="rows">
        {f.rules?.map((r) => (
          <li key={`${r.file} ${r.rule}`}>
            <label className="check main-of">
              <input
                type="checkbox"
                disabled={!open(r)}
                checked={picked.has(r.rule)}
                onChange={(e) => {
                  const next = new Set(picked);
                  if (e.target.checked) next.add(r.rule);
                  else next.delete(r.rule);
                  setPicked(next);
                }}
              />
              <span>
                <span className="mono">{r.rule}</span> <span className="t3">{about(r)}</span>
              </span>
            </label>
            <span className="mono t3">{r.file}</span>
          </li>
        ))}
      </ul>
      <ErrorLine error={take.error} />
      {(f.rules ?? []).some(open) && (
        <p className="said">
          <Button disabled={rules.length === 0 || take.busy} onClick={() => void take.run([...new Set(rules)])}>
            {w.accept(rules.length)}
          </Button>
        </p>
      )}
    </>
  );
}
