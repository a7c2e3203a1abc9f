import { useState } from "react";
import type { Schedule, ScheduleRun } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { hrefOf } from "../route";
import { count, fullTime, money } from "../words/format";
import { useWords, words } from "../words/index";

const schedulesWords = words(
  {
    about: "What is sent at certain times. Schedules are made with /schedule or /loop in a session, or with scorel schedule add.",
    none: "There are no schedules.",
    next: "Next",
    never: "never again",
    paused: "paused",
    run: "Run now",
    pause: "Pause",
    resume: "Go on",
    remove: "Delete",
    removeAbout: "It is never due again. Its sessions stay.",
    cancel: "Cancel",
    runs: "Runs",
    noRuns: "There were no runs yet.",
    due: "Due",
    state: "State",
    cost: "Cost",
    session: "Session",
    open: "Open",
    stop: "Stop",
    day: "Today",
    dayOf: (used: string, limit: string) => (limit ? `${used} of ${limit}` : used),
    tokens: (n: number) => `${count(n)} tokens`,
    quiet: (until: string) => `Quiet hours until ${until}.`,
    states: (s: string) => s,
  },
  {
    about: "按时间发送的内容。在会话中用 /schedule 或 /loop，或用 scorel schedule add 创建。",
    none: "没有计划。",
    next: "下次",
    never: "不再执行",
    paused: "已暂停",
    run: "立即运行",
    pause: "暂停",
    resume: "继续",
    remove: "删除",
    removeAbout: "不再到期，其会话保留。",
    cancel: "取消",
    runs: "运行",
    noRuns: "还没有运行。",
    due: "到期",
    state: "状态",
    cost: "费用",
    session: "会话",
    open: "打开",
    stop: "停止",
    day: "今天",
    dayOf: (used: string, limit: string) => (limit ? `${used} / ${limit}` : used),
    tokens: (n: number) => `${count(n)} tokens`,
    quiet: (until: string) => `安静时段至 ${until}。`,
    states: (s: string) =>
      ({ queued: "排队", running: "运行中", completed: "已完成", failed: "失败", cancelled: "已取消", lost: "丢失", skipped: "跳过" })[s] ??
      s,
  },
);

const again = { again: (c: { automation: boolean }) => c.automation };

/** Schedules with their next times, their runs, and what the day has used. */
export default function SchedulesPanel() {
  const w = useWords(schedulesWords);
  const schedules = useAnswer("list_schedules", {}, again);
  const runs = useAnswer("list_runs", { limit: 50 }, again);
  const status = useAnswer("get_automation", {}, again);
  const s = status.data;
  return (
    <div className="lead">
      <p>{w.about}</p>
      <ErrorLine error={schedules.error ?? runs.error ?? status.error} />
      {s?.problem && <ErrorLine error={s.problem} />}
      {s && (
        <p className="t2">
          {w.day}: {w.dayOf(money(s.dayUSD), s.maxDayUSD ? money(s.maxDayUSD) : "")} ·{" "}
          {w.dayOf(w.tokens(s.dayTokens), s.maxDayTokens ? w.tokens(s.maxDayTokens) : "")}
          {s.quietUntil ? ` · ${w.quiet(fullTime(s.quietUntil))}` : ""}
        </p>
      )}
      {schedules.data && (schedules.data.schedules ?? []).length === 0 && <p className="empty">{w.none}</p>}
      <ul className="schedules">
        {schedules.data?.schedules?.map((o) => (
          <Row key={o.scheduleId} schedule={o} />
        ))}
      </ul>
      <h2 className="h2">{w.runs}</h2>
      {(runs.data?.runs ?? []).length === 0 ? <p className="t3">{w.noRuns}</p> : <Runs runs={runs.data?.runs ?? []} />}
    </div>
  );
}

function Row({ schedule: s }: { schedule: Schedule }) {
  const w = useWords(schedulesWords);
  const client = useClient();
  const may = useMay("control");
  const [asking, setAsking] = useState(false);
  const { scheduleId } = s;
  const run = useAction(() => client.call("run_schedule", { scheduleId }));
  const set = useAction((paused: boolean) => client.call("set_schedule", { scheduleId, paused }));
  const remove = useAction(() => client.call("delete_schedule", { scheduleId }));
  const paused = s.state === "paused";
  return (
    <li className="schedule">
      <p>
        <b>{s.name || s.prompt.split("\n")[0]}</b> <span className="t2">{s.words}</span>
      </p>
      <p className="t3">
        {paused ? w.paused : `${w.next}: ${s.nextAt ? fullTime(s.nextAt) : w.never}`}
        {s.why ? ` · ${s.why}` : ""}
      </p>
      <ErrorLine error={run.error ?? set.error ?? remove.error} />
      {may && (
        <p className="acts">
          <Button small onClick={() => void run.run()} disabled={run.busy}>
            {w.run}
          </Button>
          <Button small onClick={() => void set.run(!paused)} disabled={set.busy}>
            {paused ? w.resume : w.pause}
          </Button>
          <Button small look="plain" no onClick={() => setAsking(true)}>
            {w.remove}
          </Button>
        </p>
      )}
      <Dialog open={asking} onClose={() => setAsking(false)} title={w.remove} about={w.removeAbout}>
        <div className="acts">
          <Button look="plain" onClick={() => setAsking(false)}>
            {w.cancel}
          </Button>
          <Button no onClick={() => void remove.run().then(() => setAsking(false))} disabled={remove.busy}>
            {w.remove}
          </Button>
        </div>
      </Dialog>
    </li>
  );
}

function Runs({ runs }: { runs: readonly ScheduleRun[] }) {
  const w = useWords(schedulesWords);
  return (
    <table className="tbl">
      <thead>
        <tr>
          <th>{w.due}</th>
          <th>{w.state}</th>
          <th className="r">{w.cost}</th>
          <th>{w.session}</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((r) => (
          <Run key={r.runId} run={r} />
        ))}
      </tbody>
    </table>
  );
}

function Run({ run: r }: { run: ScheduleRun }) {
  const w = useWords(schedulesWords);
  const client = useClient();
  const may = useMay("control");
  const stop = useAction(() => client.call("cancel_run", { runId: r.runId }));
  const active = r.state === "queued" || r.state === "running";
  return (
    <tr>
      <td>
        {fullTime(r.due)} <span className="t3">{r.name}</span>
      </td>
      <td>
        {w.states(r.state)} <span className="t3">{r.why}</span>
        <ErrorLine error={stop.error} />
      </td>
      <td className="r">{r.costUSD ? money(r.costUSD) : ""}</td>
      <td>
        <a href={hrefOf({ at: "session", id: r.sessionId })}>{w.open}</a>{" "}
        {may && active && (
          <Button small look="plain" no onClick={() => void stop.run()} disabled={stop.busy}>
            {w.stop}
          </Button>
        )}
      </td>
    </tr>
  );
}
