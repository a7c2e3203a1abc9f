import { Check, CircleAlert, CircleHelp, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { DoctorCheck } from "../../protocol/index";
import { useAnswer, useMay } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { Answered, OnlyLooks } from "../settings/parts";
import { doctorWords } from "../settings/words";
import { useWords } from "../words/index";

const marks = {
  ok: { icon: Check, look: "ok" },
  warn: { icon: TriangleAlert, look: "warn" },
  fail: { icon: CircleAlert, look: "err" },
} as const;
type Known = keyof typeof marks;
const known = (s: string): s is Known => s in marks;

/** The checks of scorel doctor: what is wrong first, each with what to do; what is in order is folded. */
export default function DoctorPanel() {
  const w = useWords(doctorWords);
  const may = useMay("control");
  const [workDir, setWorkDir] = useState("");
  const projects = useAnswer("list_projects", {}, { again: (c) => c.projects });
  const report = useAnswer("doctor", workDir ? { workDir } : {}, { enabled: may });
  if (!may) return <OnlyLooks hidden />;
  return (
    <>
      <p className="lead">{w.about}</p>
      <p className="inline">
        <span className="field">
          <label htmlFor="doctor-project">{w.project}</label>
          <select id="doctor-project" className="input" value={workDir} onChange={(e) => setWorkDir(e.target.value)}>
            <option value="">{w.noProject}</option>
            {projects.data?.projects?.map((p) => (
              <option key={p.projectId} value={p.workDir || p.root}>
                {p.root}
              </option>
            ))}
          </select>
        </span>
        <Button disabled={report.loading} onClick={report.reload}>
          {report.loading ? w.checking : w.again}
        </Button>
      </p>
      <Answered of={report}>{(r) => <Report checks={r.checks ?? []} />}</Answered>
    </>
  );
}

function Report({ checks }: { checks: readonly DoctorCheck[] }) {
  const w = useWords(doctorWords);
  const count = (state: string) => checks.filter((c) => c.state === state).length;
  const wrong = checks.filter((c) => c.state !== "ok").sort((a, b) => Number(b.state === "fail") - Number(a.state === "fail"));
  const fine = checks.filter((c) => c.state === "ok");
  return (
    <>
      <h2 className="h2">{w.result(count("fail"), count("warn"))}</h2>
      <Checks of={wrong} />
      <details>
        <summary>{w.inOrder(fine.length)}</summary>
        <Checks of={fine} />
      </details>
    </>
  );
}

function Checks({ of }: { of: readonly DoctorCheck[] }) {
  const w = useWords(doctorWords);
  return (
    <ul className="checklist">
      {of.map((c) => {
        const mark = known(c.state) ? marks[c.state] : { icon: CircleHelp, look: "" };
        return (
          <li key={`${c.id} ${c.text}`}>
            <Icon of={mark.icon} className={mark.look} />
            <span>
              <b className="mono">{c.id}</b>{" "}
              <span className={c.state === "ok" ? "sr" : mark.look}>{known(c.state) ? w[c.state] : w.unknown}</span>
            </span>
            <span>{c.text}</span>
            {c.advice && <span className="advice">{c.advice}</span>}
          </li>
        );
      })}
    </ul>
  );
}
