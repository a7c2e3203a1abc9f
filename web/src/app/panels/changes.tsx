import { ChevronRight, FileMinus2, FilePen, FilePlus2, FileQuestion } from "lucide-react";
import { useId, useState } from "react";
import { cleanText } from "../../display/index";
import type { ChangedFile, ChangeState } from "../../protocol/index";
import { useAnswer, useLive, useMay, useSession } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { Diff } from "../text/Diff";
import { useWords } from "../words/index";
import { fileWords } from "./filewords";
import { Answered, useOnChange } from "./pane";

/** How often the changes are asked for again while a turn works, in ms. */
const changesEvery = 2000;

const icons: Record<ChangeState, typeof FilePen> = { added: FilePlus2, changed: FilePen, removed: FileMinus2, unknown: FileQuestion };

/** What the tools of the session have changed in the files of the project. */
export default function ChangesPanel() {
  const w = useWords(fileWords);
  const { sessionId } = useSession();
  const may = useMay("control");
  const [git, setGit] = useState(false);
  const answer = useAnswer("list_changes", git ? { git } : {}, { sessionId, enabled: may });
  const leaf = useLive((l) => l.leafId ?? "");
  useOnChange(leaf, changesEvery, answer.reload);
  if (!may) return <p className="pane quiet">{w.mayNot}</p>;
  return (
    <section className="pane">
      {(git || answer.data?.git) && (
        <fieldset className="since">
          <legend className="sr">{w.compared}</legend>
          <Button small look="plain" aria-pressed={!git} className={git ? "" : "on"} onClick={() => setGit(false)}>
            {w.sinceSession}
          </Button>
          <Button small look="plain" aria-pressed={git} className={git ? "on" : ""} onClick={() => setGit(true)}>
            {w.sinceCommit}
          </Button>
        </fieldset>
      )}
      <Answered of={answer}>
        {(list) => {
          const files = list.files ?? [];
          if (files.length === 0) return <p className="quiet">{git ? w.allCommitted : w.noChanges}</p>;
          return (
            <>
              <h2>
                {w.summary(files.length)}
                <Counts added={sum(files, "added")} removed={sum(files, "removed")} />
              </h2>
              <p className="quiet">{git ? w.aboutCommit : w.about}</p>
              <ul className="changes">
                {files.map((f) => (
                  <Change key={f.path} file={f} />
                ))}
              </ul>
              {list.more && <p className="quiet">{w.moreFiles}</p>}
            </>
          );
        }}
      </Answered>
    </section>
  );
}

function sum(files: readonly ChangedFile[], of: "added" | "removed"): number {
  return files.reduce((n, f) => n + (f[of] ?? 0), 0);
}

/** A difference with nothing in its lines that hides or reorders text; each line stays one. */
function safe(diff: string): string {
  return diff
    .split("\n")
    .map((l) => cleanText(l).replaceAll("\n", " "))
    .join("\n");
}

function Counts({ added, removed }: { added: number; removed: number }) {
  const w = useWords(fileWords);
  if (added + removed === 0) return null;
  return (
    <span className="v">
      <span className="sr">{w.lines(added, removed)}</span>
      <span aria-hidden="true">
        <span className="ok">+{w.count(added)}</span> <span className="err">−{w.count(removed)}</span>
      </span>
    </span>
  );
}

function Change({ file: f }: { file: ChangedFile }) {
  const w = useWords(fileWords);
  const [open, setOpen] = useState(false);
  const id = useId();
  const at = f.path.lastIndexOf("/");
  return (
    <li>
      <button type="button" className="change" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <Icon of={icons[f.state] ?? FileQuestion} />
        <span className="path" title={f.path}>
          <b className="trunc">{f.path.slice(at + 1)}</b>
          {at > 0 && <span className="t3 trunc">{f.path.slice(0, at)}</span>}
        </span>
        <Counts added={f.added ?? 0} removed={f.removed ?? 0} />
        <span className={f.state === "changed" ? "sr" : "t3 word"}>{w[f.state] ?? f.state}</span>
        <Icon of={ChevronRight} small className={open ? "turned" : ""} />
      </button>
      <div id={id} hidden={!open}>
        {open &&
          (f.problem ? (
            <p className="quiet err">{f.problem}</p>
          ) : f.binary ? (
            <p className="quiet">{w.binary}</p>
          ) : f.diff ? (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
            <div className="patch" tabIndex={0} role="region" aria-label={w.diffOf(f.path)}>
              <Diff diff={safe(f.diff)} path={f.path} />
            </div>
          ) : (
            <p className="quiet">{w.tooLong}</p>
          ))}
      </div>
    </li>
  );
}
