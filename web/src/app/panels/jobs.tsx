import { useEffect, useState } from "react";
import { newSessionID } from "../../client/index";
import type { JobState, JobTemplate, SessionSummary } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useNow } from "../places/hooks";
import { titleOf } from "../places/summary";
import { go, hrefOf } from "../route";
import { Answered, OnlyLooks, Table } from "../settings/parts";
import { jobsWords, pageWords } from "../settings/words";
import { ago, fullTime } from "../words/format";
import { useWords } from "../words/index";
import { lazy } from "../parts/lazy";

const FolderPicker = lazy(() => import("../places/FolderPicker"));
/** Jobs that are asked for at first, and with each step further back. */
const step = 50;
const most = 500;

/** Templates of a folder, a job to begin from one, and the jobs that there are. */
export default function JobsPanel() {
  const w = useWords(jobsWords);
  const may = useMay("control");
  return (
    <>
      <p className="lead">{w.about}</p>
      <OnlyLooks />
      {may && <Templates />}
      <Jobs />
    </>
  );
}

function Templates() {
  const w = useWords(jobsWords);
  const projects = useAnswer("list_projects", {}, { again: (c) => c.projects });
  const [workDir, setWorkDir] = useState("");
  const [picks, setPicks] = useState(false);
  const [of, setOf] = useState<JobTemplate>();
  const first = projects.data?.projects?.[0]?.root ?? "";
  useEffect(() => {
    if (first) setWorkDir((d) => d || first);
  }, [first]);
  const templates = useAnswer("list_job_templates", { workDir }, { enabled: workDir !== "" });
  return (
    <>
      <h2 className="h2">{w.templates}</h2>
      <p className="inline said">
        <span className="grow mono">{workDir}</span>
        <Button small onClick={() => setPicks(true)}>
          {w.choose}
        </Button>
      </p>
      <ErrorLine error={projects.error} />
      {workDir !== "" && (
        <Answered of={templates}>
          {(t) => (
            <>
              {t.problems?.map((p) => (
                <ErrorLine key={p} error={p} />
              ))}
              {(t.templates ?? []).length === 0 && <p className="t3 said">{w.noTemplates}</p>}
              <ul className="rows">
                {t.templates?.map((x) => (
                  <li key={x.path}>
                    <span className="main-of">
                      <b>{x.name}</b> <span className="t2">{x.description}</span>{" "}
                      <span className="t3">{[x.scope === "user" ? w.user : w.ofProject, x.model].filter(Boolean).join(" · ")}</span>
                    </span>
                    <Button small aria-label={`${w.start}: ${x.name}`} onClick={() => setOf(x)}>
                      {w.start}
                    </Button>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Answered>
      )}
      {of && <Start template={of} workDir={workDir} onClose={() => setOf(undefined)} />}
      {picks && (
        <FolderPicker
          start={workDir}
          onPick={(path) => {
            setWorkDir(path);
            setPicks(false);
          }}
          onClose={() => setPicks(false)}
        />
      )}
    </>
  );
}

function Start({ template, workDir, onClose }: { template: JobTemplate; workDir: string; onClose(): void }) {
  const w = useWords(jobsWords);
  const page = useWords(pageWords);
  const client = useClient();
  const [args, setArgs] = useState("");
  const start = useAction(async () => {
    const sessionId = newSessionID();
    await client.call("create_job", { template: template.name, workDir, ...(args.trim() ? { args } : {}) }, { sessionId });
    onClose(); // the page may come back before the session is loaded
    go({ at: "session", id: sessionId });
  });
  return (
    <Dialog open onClose={onClose} title={w.startOf(template.name)} {...(template.description ? { about: template.description } : {})}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void start.run();
        }}
      >
        <div className="field">
          <label htmlFor="job-args">{w.args}</label>
          <textarea id="job-args" className="input" rows={4} value={args} onChange={(e) => setArgs(e.target.value)} />
          <span className="t3">{w.argsAbout}</span>
        </div>
        <ErrorLine error={start.error} />
        <div className="acts">
          <Button onClick={onClose}>{page.cancel}</Button>
          <Button look="ink" type="submit" disabled={start.busy}>
            {w.start}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const looks: Record<JobState, string> = { working: "live", waiting: "wait", done: "done", failed: "fail" };

function Jobs() {
  const w = useWords(jobsWords);
  const [limit, setLimit] = useState(step);
  const jobs = useAnswer(
    "list_sessions",
    { jobs: true, limit },
    { again: (c) => c.sessions.some((s) => s.summary.meta.job !== undefined) },
  );
  return (
    <>
      <h2 className="h2">{w.jobs}</h2>
      <Answered of={jobs}>
        {(list) =>
          (list.sessions ?? []).length === 0 ? (
            <p className="t3 said">{w.noJobs}</p>
          ) : (
            <>
              <Table label={w.jobs} head={[{ name: w.job }, { name: w.template }, { name: w.state }, { name: w.changed, right: true }]}>
                {list.sessions?.map((s) => (
                  <Job key={s.sessionId} of={s} />
                ))}
              </Table>
              {list.more && limit < most && (
                <p className="said">
                  <Button small disabled={jobs.loading} onClick={() => setLimit(limit + step)}>
                    {w.more}
                  </Button>
                </p>
              )}
            </>
          )
        }
      </Answered>
    </>
  );
}

function Job({ of: s }: { of: SessionSummary }) {
  const w = useWords(jobsWords);
  const now = useNow();
  const state = s.meta.job?.state;
  return (
    <tr>
      <td>
        <a href={hrefOf({ at: "session", id: s.sessionId })}>{titleOf(s) || w.untitled}</a>
      </td>
      <td className="mono">{s.meta.job?.template}</td>
      <td>
        {state && (
          <>
            <span className={`note ${looks[state] ?? ""}`} /> {w[state] ?? state}
          </>
        )}
      </td>
      <td className="r">
        <time title={fullTime(s.updatedAt)}>{ago(s.updatedAt, now)}</time>
      </td>
    </tr>
  );
}
