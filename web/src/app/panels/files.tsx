import { ChevronLeft, ChevronRight, Copy, FileText, Folder as FolderIcon } from "lucide-react";
import { useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { cleanText } from "../../display/index";
import type { ProjectID } from "../../protocol/index";
import { useAnswer, useLive, useMay } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { announce, tell } from "../parts/tell";
import { bytes } from "../words/format";
import { useWords } from "../words/index";
import { fileWords } from "./filewords";
import { Answered } from "./pane";
import { type Folder, treeOf } from "./tree";

/** How many files are asked for at once: the most that the host sends. */
const limit = 200;

/** The files of the project as a tree, and a look into one of them. */
export default function FilesPanel() {
  const w = useWords(fileWords);
  const projectId = useLive((l) => l.meta.projectId);
  const may = useMay("control");
  const [open, setOpen] = useState<string>();
  const tree = useRef<HTMLDivElement>(null);
  const last = useRef<string>(undefined);
  useEffect(() => {
    // One goes on where one was: at the file that was looked at.
    if (open === undefined && last.current !== undefined)
      tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(last.current)}"]`)?.focus();
    last.current = open;
  }, [open]);
  if (!may) return <p className="pane quiet">{w.mayNot}</p>;
  if (!projectId) return <p className="pane quiet">{w.noProject}</p>;
  return (
    <>
      <div hidden={open !== undefined} ref={tree}>
        <Tree projectId={projectId} show={setOpen} />
      </div>
      {open !== undefined && <Viewer projectId={projectId} path={open} close={() => setOpen(undefined)} />}
    </>
  );
}

function Tree({ projectId, show }: { projectId: ProjectID; show(path: string): void }) {
  const w = useWords(fileWords);
  const id = useId();
  const [query, setQuery] = useState("");
  const asked = useDeferredValue(query.trim());
  const answer = useAnswer("list_files", { projectId, limit, ...(asked ? { query: asked } : {}) });
  return (
    <section className="pane" aria-label={w.files}>
      <label className="sr" htmlFor={id}>
        {w.find}
      </label>
      <input id={id} className="input" type="search" placeholder={w.find} value={query} onChange={(e) => setQuery(e.target.value)} />
      <Answered of={answer}>
        {(list) => {
          const files = list.files ?? [];
          if (files.length === 0 && !answer.loading) return <p className="empty">{asked ? w.noMatch : w.noFiles}</p>;
          const root = treeOf(files);
          return (
            <>
              <Branch key={asked} of={root} projectId={projectId} whole={!list.more} unfolded={asked !== ""} show={show} />
              {list.more && <p className="quiet">{w.narrow}</p>}
            </>
          );
        }}
      </Answered>
    </section>
  );
}

interface BranchProps {
  of: Folder;
  projectId: ProjectID;
  /** all files are known already */
  whole: boolean;
  unfolded: boolean;
  show(path: string): void;
}

function Branch({ of, ...rest }: BranchProps) {
  return (
    <ul className="tree">
      {of.folders.map((f) => (
        <Fold key={f.path} of={f} {...rest} />
      ))}
      {of.files.map((path) => (
        <li key={path}>
          <button type="button" className="node" data-path={path} onClick={() => rest.show(path)}>
            <Icon of={FileText} small />
            <span className="trunc">{path.slice(path.lastIndexOf("/") + 1)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Fold({ of, ...rest }: BranchProps) {
  const [open, setOpen] = useState(rest.unfolded);
  return (
    <li>
      <button type="button" className="node" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon of={ChevronRight} small className={open ? "turned" : ""} />
        <Icon of={FolderIcon} small />
        <span className="trunc">{of.name}</span>
      </button>
      {open && (rest.whole || rest.unfolded ? <Branch of={of} {...rest} /> : <Asked of={of} {...rest} />)}
    </li>
  );
}

/** A folder of a project with very many files: those in it are asked for. */
function Asked({ of, ...rest }: BranchProps) {
  const w = useWords(fileWords);
  const answer = useAnswer("list_files", { projectId: rest.projectId, query: `${of.path}/`.slice(-250), limit });
  const inside = (answer.data?.files ?? []).filter((f) => f.startsWith(`${of.path}/`));
  let folder: Folder | undefined = treeOf([...filesOf(of), ...inside]);
  for (const name of of.path.split("/")) folder = folder?.folders.find((f) => f.name === name);
  return (
    <>
      {folder && <Branch of={folder} {...rest} />}
      <Answered of={answer}>{(list) => list.more && <p className="quiet">{w.narrow}</p>}</Answered>
    </>
  );
}

function filesOf(f: Folder): string[] {
  return [...f.files, ...f.folders.flatMap(filesOf)];
}

/** A file as it is now. */
function Viewer({ projectId, path, close }: { projectId: ProjectID; path: string; close(): void }) {
  const w = useWords(fileWords);
  const answer = useAnswer("get_file", { projectId, path });
  const head = useRef<HTMLButtonElement>(null);
  useEffect(() => head.current?.focus(), []);
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      announce(w.copied);
    } catch {
      tell(w.notCopied);
    }
  };
  return (
    <section className="viewer" aria-label={path}>
      <header>
        <Button look="plain" ref={head} onClick={close} aria-label={w.back}>
          <Icon of={ChevronLeft} />
        </Button>
        <b className="mono grow" title={path}>
          {path}
        </b>
        {answer.data?.text && (
          <Button look="plain" small onClick={() => void copy(answer.data?.text ?? "")}>
            <Icon of={Copy} small />
            {w.copy}
          </Button>
        )}
      </header>
      <div className="pad">
        <Answered of={answer}>
          {(f) =>
            f.binary ? (
              <p className="quiet">
                {w.binary} {bytes(f.bytes)}
              </p>
            ) : f.text ? (
              f.cut && <p className="quiet">{w.cut(bytes(new TextEncoder().encode(f.text).length), bytes(f.bytes))}</p>
            ) : (
              <p className="quiet">{w.emptyFile}</p>
            )
          }
        </Answered>
      </div>
      {answer.data?.text && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <pre className="text" tabIndex={0} role="region" aria-label={w.textOf(path)}>
          {cleanText(answer.data.text)}
        </pre>
      )}
    </section>
  );
}
