import { useEffect, useState } from "react";
import type { CreateSchedule } from "../../protocol/index";
import { useAction, useAnswer, useClient } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useSettled } from "../places/hooks";
import { fullTime } from "../words/format";
import { useWords } from "../words/index";
import { schedulesWords } from "./schedulewords";
import { pageWords } from "./words";
import { lazy } from "../parts/lazy";

const FolderPicker = lazy(() => import("../places/FolderPicker"));
/** How long a person may type before the host reads the time. */
const typingMs = 300;
const targets = ["fresh", "kept"] as const;
const modes = ["dontAsk", "acceptEdits", "plan"] as const;

/** Makes a schedule. The host says when it would be due before it is made, and why it cannot be. */
export default function ScheduleForm({ onClose }: { onClose(): void }) {
  const w = useWords(schedulesWords);
  const page = useWords(pageWords);
  const client = useClient();
  const projects = useAnswer("list_projects", {});
  const [when, setWhen] = useState("every 1h");
  const [zone, setZone] = useState("");
  const [name, setName] = useState("");
  const [prompt, setPrompt] = useState("");
  const [target, setTarget] = useState<(typeof targets)[number]>("fresh");
  const [mode, setMode] = useState<(typeof modes)[number]>("dontAsk");
  const [onQuestion, setOnQuestion] = useState("");
  const [workDir, setWorkDir] = useState("");
  const [picks, setPicks] = useState(false);
  const first = projects.data?.projects?.[0]?.root ?? "";
  useEffect(() => {
    if (first) setWorkDir((d) => d || first);
  }, [first]);
  const fields: CreateSchedule = {
    when: when.trim(),
    prompt: prompt.trim(),
    target,
    workDir,
    options: { mode },
    ...(zone.trim() ? { zone: zone.trim() } : {}),
    ...(name.trim() ? { name: name.trim() } : {}),
    ...(onQuestion ? { onQuestion } : {}),
  };
  // The times do not depend on the prompt, and are shown before there is one.
  const asked = useSettled(JSON.stringify({ ...fields, prompt: "-" }), typingMs);
  const plan = useAnswer("plan_schedule", JSON.parse(asked) as CreateSchedule, { enabled: workDir !== "" && fields.when !== "" });
  const settled = asked === JSON.stringify({ ...fields, prompt: "-" });
  const make = useAction(async () => {
    await client.call("create_schedule", fields);
    onClose();
  });
  const ready = settled && plan.data !== undefined && !plan.error && fields.prompt !== "" && !make.busy;
  return (
    <Dialog open onClose={onClose} title={w.add}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (ready) void make.run();
        }}
      >
        <div className="field">
          <label htmlFor="schedule-when">{w.when}</label>
          <input
            id="schedule-when"
            className="input"
            value={when}
            aria-describedby="schedule-when-about"
            onChange={(e) => setWhen(e.target.value)}
            required
          />
          <span id="schedule-when-about" className="t3">
            {w.whenAbout}
          </span>
        </div>
        <div className="next3" role="status">
          {plan.error ? (
            <ErrorLine error={plan.error} />
          ) : plan.data && settled ? (
            <>
              <b>{w.nextTimes}</b> <span className="t2">{plan.data.schedule.words}</span>
              <ol>
                {(plan.data.next ?? []).length === 0 && <li>{w.noTime}</li>}
                {plan.data.next?.map((at) => (
                  <li key={at} className="num">
                    {fullTime(at)}
                  </li>
                ))}
              </ol>
            </>
          ) : (
            <span className="t3">{w.planning}</span>
          )}
        </div>
        <div className="field">
          <label htmlFor="schedule-prompt">{w.send}</label>
          <textarea id="schedule-prompt" className="input" rows={3} value={prompt} onChange={(e) => setPrompt(e.target.value)} required />
        </div>
        <div className="field">
          <label htmlFor="schedule-folder">{w.folder}</label>
          <span className="inline">
            <input id="schedule-folder" className="input mono grow" value={workDir} onChange={(e) => setWorkDir(e.target.value)} required />
            <Button onClick={() => setPicks(true)}>{w.choose}</Button>
          </span>
        </div>
        <Choice
          id="schedule-target"
          label={w.where}
          value={target}
          all={targets.map((t) => [t, w[t]] as const)}
          onChange={(t) => setTarget(t)}
        />
        <Choice id="schedule-mode" label={w.mode} value={mode} all={modes.map((m) => [m, w[m]] as const)} onChange={(m) => setMode(m)} />
        <Choice
          id="schedule-question"
          label={w.onQuestion}
          value={onQuestion}
          all={[
            ["", w.asConfigured],
            ["deny", w.deny],
            ["wait", w.wait],
          ]}
          onChange={setOnQuestion}
        />
        <div className="field">
          <label htmlFor="schedule-name">{w.name}</label>
          <input id="schedule-name" className="input" value={name} onChange={(e) => setName(e.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="schedule-zone">{w.zone}</label>
          <input id="schedule-zone" className="input" placeholder="Europe/Berlin" value={zone} onChange={(e) => setZone(e.target.value)} />
          <span className="t3">{w.zoneAbout}</span>
        </div>
        <ErrorLine error={make.error} />
        <div className="acts">
          <Button onClick={onClose}>{page.cancel}</Button>
          <Button look="ink" type="submit" disabled={!ready}>
            {w.create}
          </Button>
        </div>
      </form>
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
    </Dialog>
  );
}

function Choice<T extends string>({
  id,
  label,
  value,
  all,
  onChange,
}: {
  id: string;
  label: string;
  value: T;
  all: readonly (readonly [T, string])[];
  onChange(v: T): void;
}) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={(e) => onChange(e.target.value as T)}>
        {all.map(([v, name]) => (
          <option key={v} value={v}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
