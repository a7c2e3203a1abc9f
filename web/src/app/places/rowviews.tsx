/** How the rows of the list look. A row is drawn again when what it shows is another. */
import { BriefcaseBusiness, ChevronDown, ChevronRight, Ellipsis, Folder, FolderX, Plus, ShieldQuestionMark } from "lucide-react";
import { memo, useState } from "react";
import type { Project, ProjectID, SessionSummary } from "../../protocol/index";
import { useAnswer, useClient, useMay } from "../host/context";
import { Divider, Icon, IconButton, Menu, MenuItem } from "../parts/controls";
import { tell } from "../parts/tell";
import { go, hrefOf } from "../route";
import { ago, count, fullTime } from "../words/format";
import { useWords } from "../words/index";
import { useNow } from "./hooks";
import { SessionMenu } from "./SessionMenu";
import { isSeen, useSeen } from "./seen";
import { askedOf, standingOf, titleOf } from "./summary";
import { placesWords } from "./words";
import { lazy } from "../parts/lazy";

const Trust = lazy(() => import("./Trust"));

const stands = { waits: "standWaits", working: "standWorking", failed: "standFailed", done: "standNew", seen: undefined } as const;
const notes = { waits: "note wait", working: "note live", failed: "note fail", done: "note done", seen: "note" } as const;

/** The words of what a session asks. */
function useAsks(s: SessionSummary): { ask: string; about: string } {
  const w = useWords(placesWords);
  const { what, about } = askedOf(s);
  if (what === "plan") return { ask: w.asksPlan, about: w.planAbout };
  if (what === "answer") return { ask: w.asksAnswer, about };
  if (what === "job") return { ask: w.asksJob, about: "" };
  return { ask: w.asksTool(what.tool), about };
}

export const SessionRow = memo(function SessionRow({
  s,
  place,
  tall,
  phone,
  current,
  tabIndex,
}: {
  s: SessionSummary;
  place: string;
  tall: boolean;
  phone: boolean;
  current: boolean;
  tabIndex: number;
}) {
  const w = useWords(placesWords);
  const now = useNow();
  const seen = useSeen();
  const { ask, about } = useAsks(s);
  const standing = standingOf(s, current || isSeen(s, seen));
  const stand = stands[standing];
  const waits = standing === "waits";
  const name = titleOf(s) || w.untitled;
  const job = s.meta.job;
  const rests = s.state?.automation ? w.byItself : job ? w.jobOf(job.template) : "";
  const doing = waits ? about : standing === "working" ? (s.state?.activity ?? "") : s.damaged || rests;
  const sub = [place, doing].filter(Boolean).join(" · ");
  const title = [name, s.meta.workDir, s.lockedBy && w.held(s.lockedBy)].filter(Boolean).join("\n");
  return (
    <div className="srow">
      <a
        className={["sess", tall && "tall", current && "cur", phone && "prow"].filter(Boolean).join(" ")}
        href={hrefOf({ at: "session", id: s.sessionId })}
        aria-current={current ? "page" : undefined}
        title={title}
        tabIndex={tabIndex}
      >
        <span className={notes[standing]} />
        <span className="name">
          {job && <Icon of={BriefcaseBusiness} small />}
          {name}
          {stand && <span className="sr"> {w[stand]}</span>}
          {job && <span className="sr"> {w.job}</span>}
        </span>
        {waits ? (
          <span className="asks">{ask}</span>
        ) : (
          <time className="when" dateTime={new Date(s.updatedAt).toISOString()} title={fullTime(s.updatedAt)}>
            {ago(s.updatedAt, Math.max(now, s.updatedAt))}
          </time>
        )}
        {tall && sub && <span className="sub">{sub}</span>}
      </a>
      <SessionMenu className="dots" s={s} tabIndex={tabIndex} />
    </div>
  );
});

export const ProjectRow = memo(function ProjectRow({
  project,
  name,
  folded,
  tabIndex,
  onFold,
}: {
  project: Project;
  name: string;
  folded: boolean;
  tabIndex: number;
  onFold(id: ProjectID): void;
}) {
  const w = useWords(placesWords);
  const client = useClient();
  const may = useMay("control");
  const [trust, setTrust] = useState(false);
  const state = useAnswer(
    "get_project_state",
    { workDir: project.workDir },
    { again: (c) => c.sessions.some((s) => s.summary.meta.projectId === project.projectId && !s.summary.state?.running) },
  );
  const off = async () => {
    try {
      await client.call("remove_project", { projectId: project.projectId });
      tell(w.takeOffAbout, { bad: false });
    } catch (e) {
      tell(e instanceof Error ? e.message : String(e));
    }
  };
  return (
    <div className="sec proj">
      <button
        type="button"
        className="fold"
        aria-expanded={!folded}
        title={project.root}
        tabIndex={tabIndex}
        onClick={() => onFold(project.projectId)}
      >
        <Icon of={folded ? ChevronRight : Folder} small />
        <span className="trunc">{name}</span>
        {state.data?.branch && <span className="branch trunc">{state.data.branch}</span>}
      </button>
      {may && (
        <>
          <Menu
            label={w.projectMenu(name)}
            trigger={<IconButton className="dots" of={Ellipsis} small name={w.projectMenu(name)} tabIndex={tabIndex} />}
          >
            <MenuItem of={Plus} onSelect={() => go({ at: "new", workDir: project.workDir })}>
              {w.newHere}
            </MenuItem>
            <MenuItem of={ShieldQuestionMark} onSelect={() => setTrust(true)}>
              {w.trustMenu}
            </MenuItem>
            <Divider />
            <MenuItem of={FolderX} onSelect={() => void off()}>
              {w.takeOff}
            </MenuItem>
          </Menu>
          <IconButton
            className="dots"
            of={Plus}
            small
            name={`${w.newHere}: ${name}`}
            tabIndex={tabIndex}
            onClick={() => go({ at: "new", workDir: project.workDir })}
          />
        </>
      )}
      {trust && <Trust projectId={project.projectId} onDone={() => setTrust(false)} />}
    </div>
  );
});

export function HeadRow({
  of,
  n,
  only,
  projects,
  onOnly,
}: {
  of: "waiting" | "working" | "earlier";
  n: number;
  only: ProjectID | undefined;
  projects: readonly (readonly [ProjectID, string])[];
  onOnly: ((id: ProjectID | undefined) => void) | undefined;
}) {
  const w = useWords(placesWords);
  return (
    <div className="sec">
      <h2>{w[of]}</h2>
      {of !== "earlier" && <span className="n">{count(n)}</span>}
      {of === "earlier" && onOnly && projects.length > 1 && (
        <Menu
          label={w.allProjects}
          trigger={
            <button type="button" className="n pick">
              {projects.find(([id]) => id === only)?.[1] ?? w.allProjects} <Icon of={ChevronDown} small />
            </button>
          }
        >
          <MenuItem onSelect={() => onOnly(undefined)}>{w.allProjects}</MenuItem>
          {projects.map(([id, name]) => (
            <MenuItem key={id} onSelect={() => onOnly(id)}>
              {name}
            </MenuItem>
          ))}
        </Menu>
      )}
    </div>
  );
}
