import { Plus } from "lucide-react";
import { useState } from "react";
import type { Project } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { baseOf } from "../places/summary";
import { go } from "../route";
import { fullTime } from "../words/format";
import { useWords } from "../words/index";
import { Answered, OnlyLooks, Sure } from "./parts";
import { settingsWords } from "./settingswords";
import { lazy } from "../parts/lazy";

const FolderPicker = lazy(() => import("../places/FolderPicker"));
const Trust = lazy(() => import("../places/Trust"));
const Wide = lazy(() => import("../places/Wide"));

/** The projects that are known, whether their files are trusted, and folders to add. */
export default function Projects() {
  const w = useWords(settingsWords);
  const client = useClient();
  const may = useMay("control");
  const projects = useAnswer("list_projects", {}, { again: (c) => c.projects });
  const [picks, setPicks] = useState(false);
  const [wide, setWide] = useState<Project>();
  const add = useAction(async (workDir: string, allow: boolean) => {
    const p = await client.call("register_project", { workDir, ...(allow ? { wide: true } : {}) });
    setWide(p.wide && !p.wideAllowed ? p : undefined);
    projects.reload();
  });
  return (
    <>
      <p className="lead">{w.projectsAbout}</p>
      <OnlyLooks />
      {may && (
        <p>
          <Button onClick={() => setPicks(true)}>
            <Icon of={Plus} small />
            {w.addProject}
          </Button>
        </p>
      )}
      <ErrorLine error={add.error} />
      <Answered of={projects}>
        {(list) => (
          <>
            {list.notices?.map((n) => (
              <p key={n} className="warn said">
                {n}
              </p>
            ))}
            {(list.projects ?? []).length === 0 && <p className="t3 said">{w.noProjects}</p>}
            <ul className="rows">
              {list.projects?.map((p) => (
                <Row key={p.projectId} project={p} onChanged={projects.reload} />
              ))}
            </ul>
          </>
        )}
      </Answered>

      {picks && (
        <FolderPicker
          start=""
          onPick={(path) => {
            setPicks(false);
            void add.run(path, false);
          }}
          onClose={() => setPicks(false)}
        />
      )}
      {wide && <Wide project={wide} onYes={() => void add.run(wide.workDir || wide.root, true)} onNo={() => setWide(undefined)} />}
    </>
  );
}

function Row({ project: p, onChanged }: { project: Project; onChanged(): void }) {
  const w = useWords(settingsWords);
  const client = useClient();
  const may = useMay("control");
  const [asks, setAsks] = useState<"trust" | "remove">();
  const { projectId } = p;
  const name = baseOf(p.root);
  const remove = useAction(async () => {
    await client.call("remove_project", { projectId });
    setAsks(undefined);
    onChanged();
  });
  return (
    <li>
      <span className="main-of">
        <b>{name}</b> <span className="mono t3">{p.root}</span>
        <br />
        <span className={p.trustedAt ? "t2" : "t3"}>{p.trustedAt ? w.trusted(fullTime(p.trustedAt)) : w.notTrusted}</span>
        {p.notices?.map((n) => (
          <span key={n} className="warn">
            {" "}
            {n}
          </span>
        ))}
      </span>
      {may && (
        <span className="acts">
          <Button small aria-label={`${w.newIn}: ${name}`} onClick={() => go({ at: "new", workDir: p.root })}>
            {w.newIn}
          </Button>
          <Button small aria-label={`${w.trust}: ${name}`} onClick={() => setAsks("trust")}>
            {w.trust}
          </Button>
          <Button small look="plain" no aria-label={`${w.removeProject}: ${name}`} onClick={() => setAsks("remove")}>
            {w.removeProject}
          </Button>
        </span>
      )}
      {asks === "trust" && (
        <Trust
          projectId={projectId}
          onDone={() => {
            setAsks(undefined);
            onChanged();
          }}
        />
      )}
      {asks === "remove" && (
        <Sure
          title={`${w.removeProjectOf(name)}?`}
          about={w.removeProjectAbout}
          yes={w.removeProject}
          busy={remove.busy}
          error={remove.error}
          onYes={() => void remove.run()}
          onClose={() => setAsks(undefined)}
        />
      )}
    </li>
  );
}
