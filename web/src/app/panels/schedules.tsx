import { Plus } from "lucide-react";
import { useState } from "react";
import type { AutomationStatus, RunState, Schedule, ScheduleID, ScheduleRun } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { hrefOf } from "../route";
import { Answered, Facts, OnlyLooks, Sure, Table } from "../settings/parts";
import { schedulesWords } from "../settings/schedulewords";
import { count, fullTime, money } from "../words/format";
import { useWords } from "../words/index";
import { lazy } from "../parts/lazy";

const ScheduleForm = lazy(() => import("../settings/ScheduleForm"));
const again = { again: (c: { automation: boolean }) => c.automation };
const looks: Record<RunState, string> = {
  queued: "",
  running: "live",
  completed: "done",
  failed: "fail",
  cancelled: "",
  budget: "fail",
};

function nameOf(s: Schedule): string {
  return s.name || (s.prompt.trim().split("\n")[0] ?? "");
}

/** Schedules with their next times, their runs, and what the host does by itself today. */
export default function SchedulesPanel() {
  const w = useWords(schedulesWords);
  const may = useMay("control");
  const [adds, setAdds] = useState(false);
  const schedules = useAnswer("list_schedules", {}, again);
  const runs = useAnswer("list_runs", { limit: 50 }, again);
  const status = useAnswer("get_automation", {}, again);
  const names = new Map(schedules.data?.schedules?.map((s) => [s.scheduleId, nameOf(s)]));
  return (
    <>
      <p className="lead">{w.about}</p>
      <OnlyLooks />
      <Answered of={status}>{(s) => <Today status={s} />}</Answered>
      {may && (
        <p className="said">
          <Button onClick={() => setAdds(true)}>
            <Icon of={Plus} small />
            {w.add}
          </Button>
        </p>
      )}
      <Answered of={schedules}>
        {(list) =>
          (list.schedules ?? []).length === 0 ? (
            <p className="empty">{w.none}</p>
          ) : (
            <ul className="rows">
              {list.schedules?.map((s) => (
                <Row key={s.scheduleId} schedule={s} />
              ))}
            </ul>
          )
        }
      </Answered>
      <h2 className="h2">{w.runs}</h2>
      <Answered of={runs}>
        {(list) =>
          (list.runs ?? []).length === 0 ? (
            <p className="t3 said">{w.noRuns}</p>
          ) : (
            <Runs runs={list.runs ?? []} names={names} label={w.runs} />
          )
        }
      </Answered>
      {adds && <ScheduleForm onClose={() => setAdds(false)} />}
    </>
  );
}

function Today({ status: s }: { status: AutomationStatus }) {
  const w = useWords(schedulesWords);
  const limited = (used: string, limit: string | false) => (limit ? w.of(used, limit) : used);
  return (
    <>
      {!s.enabled && <p className="banner warn">{w.off}</p>}
      <ErrorLine error={s.problem} />
      {s.quietUntil !== undefined && s.quietUntil > 0 && <p className="banner">{w.quiet(fullTime(s.quietUntil))}</p>}
      <Facts
        of={[
          [w.usd, limited(money(s.dayUSD), !!s.maxDayUSD && money(s.maxDayUSD))],
          [w.tokens, limited(count(s.dayTokens), !!s.maxDayTokens && count(s.maxDayTokens))],
          [w.atWork, w.atWorkOf(s.running, s.queued, s.maxParallel)],
        ]}
      />
      {s.notices?.map((n) => (
        <p key={n} className="warn said">
          {n}
        </p>
      ))}
    </>
  );
}

function Row({ schedule: s }: { schedule: Schedule }) {
  const w = useWords(schedulesWords);
  const client = useClient();
  const may = useMay("control");
  const [asks, setAsks] = useState(false);
  const [open, setOpen] = useState(false);
  const { scheduleId } = s;
  const run = useAction(() => client.call("run_schedule", { scheduleId }));
  const set = useAction((paused: boolean) => client.call("set_schedule", { scheduleId, paused }));
  const remove = useAction(() => client.call("delete_schedule", { scheduleId }));
  const paused = s.state === "paused";
  const name = nameOf(s);
  const state = paused
    ? s.pausedUntil
      ? w.pausedUntil(fullTime(s.pausedUntil))
      : w.paused
    : s.state === "done"
      ? w.done
      : `${w.next}: ${s.nextAt ? fullTime(s.nextAt) : w.never}`;
  return (
    <li>
      <span className="main-of">
        <b>{name}</b> <span className="t2">{s.words}</span>
        <br />
        <span className={paused ? "warn" : "t3"}>{[state, s.why].filter(Boolean).join(" · ")}</span>
      </span>
      <span className="acts">
        <Button small look="plain" aria-expanded={open} aria-label={`${open ? w.less : w.more}: ${name}`} onClick={() => setOpen(!open)}>
          {open ? w.less : w.more}
        </Button>
        {may && (
          <>
            <Button small onClick={() => void run.run()} disabled={run.busy}>
              {w.run}
            </Button>
            {s.state !== "done" && (
              <Button small onClick={() => void set.run(!paused)} disabled={set.busy}>
                {paused ? w.resume : w.pause}
              </Button>
            )}
            {s.source !== "heartbeat" && (
              <Button small look="plain" no onClick={() => setAsks(true)}>
                {w.remove}
              </Button>
            )}
          </>
        )}
      </span>
      <ErrorLine error={run.error ?? set.error} />
      {open && <Details id={s} />}
      {asks && (
        <Sure
          title={w.removeTitle(name)}
          about={w.removeAbout}
          yes={w.remove}
          busy={remove.busy}
          error={remove.error}
          onYes={() => void remove.run().then((ok) => ok && setAsks(false))}
          onClose={() => setAsks(false)}
        />
      )}
    </li>
  );
}

/** All of a schedule: its next times, where it works, what it may do, what was left out, its runs. */
function Details({ id: listed }: { id: Schedule }) {
  const w = useWords(schedulesWords);
  const details = useAnswer("get_schedule", { scheduleId: listed.scheduleId }, again);
  return (
    <div className="more-of">
      <Answered of={details}>
        {(d) => {
          const s = d.schedule;
          const skip = s.lastSkip;
          return (
            <>
              <Facts
                of={[
                  [w.next, d.next?.map(fullTime).join(" · ") || (s.state === "paused" ? w.paused : w.never)],
                  [
                    w.worksIn,
                    <span key="w">
                      {w[s.target] ?? s.target} <span className="mono">{s.workDir}</span>{" "}
                      {s.sessionId && <a href={hrefOf({ at: "session", id: s.sessionId })}>{w.open}</a>}
                    </span>,
                  ],
                  [w.mayDo, [s.options?.mode ?? "dontAsk", ...(s.options?.allow ?? [])].join(", ")],
                  ...(s.onQuestion ? [[w.question, s.onQuestion === "wait" ? w.wait : w.deny] as const] : []),
                  [w.madeBy, w[s.source] ?? s.source],
                  ...(skip ? [[w.leftOut, w.leftOutTimes(s.skipped ?? 1, fullTime(skip.at), skip.why)] as const] : []),
                ]}
              />
              <p className="t3 said">{w.prompt}</p>
              <pre>{s.prompt}</pre>
              {(d.runs ?? []).length > 0 && (
                <Runs runs={d.runs ?? []} names={new Map([[s.scheduleId, nameOf(s)]])} label={`${w.runs}: ${nameOf(s)}`} />
              )}
            </>
          );
        }}
      </Answered>
    </div>
  );
}

function Runs({ runs, names, label }: { runs: readonly ScheduleRun[]; names: ReadonlyMap<ScheduleID, string>; label: string }) {
  const w = useWords(schedulesWords);
  return (
    <Table
      label={label}
      head={[{ name: w.due }, { name: w.what }, { name: w.state }, { name: w.cost, right: true }, { name: w.open, hidden: true }]}
    >
      {runs.map((r) => (
        <Run key={r.runId} run={r} name={r.name || (names.get(r.scheduleId) ?? "")} />
      ))}
    </Table>
  );
}

function Run({ run: r, name }: { run: ScheduleRun; name: string }) {
  const w = useWords(schedulesWords);
  const client = useClient();
  const may = useMay("control");
  const stop = useAction(() => client.call("cancel_run", { runId: r.runId }));
  const active = r.state === "queued" || r.state === "running";
  return (
    <tr>
      <td className="num">{fullTime(r.due)}</td>
      <td>{name}</td>
      <td>
        <span className={`note ${looks[r.state] ?? ""}`} /> {w[r.state] ?? r.state} <span className="t3">{r.why}</span>
        <ErrorLine error={stop.error} />
      </td>
      <td className="r">{r.costUSD ? money(r.costUSD) : ""}</td>
      <td className="acts">
        {r.sessionId && (
          <a href={hrefOf({ at: "session", id: r.sessionId })} aria-label={`${w.open}: ${name}`}>
            {w.open}
          </a>
        )}{" "}
        {may && active && (
          <Button small look="plain" no aria-label={`${w.stop}: ${name}`} onClick={() => void stop.run()} disabled={stop.busy}>
            {w.stop}
          </Button>
        )}
      </td>
    </tr>
  );
}
