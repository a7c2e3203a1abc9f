import { ArrowUp, ChevronDown, ChevronLeft, Folder, FolderOpen, GitBranch } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useAnswer, useMay } from "../host/context";
import { keep, kept } from "../host/kept";
import { Button, Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { go } from "../route";
import { Connection } from "../shell/Shell";
import { shellWords } from "../shell/words";
import { useWords } from "../words/index";
import { useBegin } from "./begin";
import { useSettled } from "./hooks";
import { shortModel } from "./models";
import { startWords } from "./startwords";
import { usePlaces } from "./store";
import { baseOf, projectNames } from "./summary";
import "../composer/composer.css";
import "./start.css";
import { lazy } from "../parts/lazy";

const FolderPicker = lazy(() => import("./FolderPicker"));
const ModelPicker = lazy(() => import("./ModelPicker"));
const Trust = lazy(() => import("./Trust"));
const Wide = lazy(() => import("./Wide"));
const Ways = lazy(() => import("./Ways"));

/** Projects that are offered at once; the others are in the list and in the picker. */
const maxOffered = 6;
/** How long a person may type a path before it is looked at. */
const typingMs = 250;
const draftKept = "draft.new";
const folderKept = "folder";

/** Begins a session: a folder, a model and the first message. Without a model, how to get one. */
export default function NewSession({ workDir }: { workDir?: string | undefined }) {
  const w = useWords(startWords);
  const shell = useWords(shellWords);
  const may = useMay("control");
  const { projects, sessions } = usePlaces();
  const [picked, setPicked] = useState(() => workDir ?? kept(folderKept));
  useEffect(() => {
    if (workDir) setPicked(workDir);
  }, [workDir]);
  const newest = sessions.find((s) => s.meta.workDir && projects.some((p) => p.projectId === s.meta.projectId))?.meta.workDir;
  const folder = (picked ?? newest ?? projects[0]?.workDir ?? "").trim();
  const looked = useSettled(folder, typingMs);
  const state = useAnswer("get_project_state", { workDir: looked }, { enabled: looked.startsWith("/") });
  const config = useAnswer("get_config", {}, { enabled: may });
  const configured = unquoted(config.data?.entries?.find((e) => e.key === "model.name")?.value);
  const lacking = config.data !== undefined && configured === "";
  const models = useAnswer("list_models", {}, { enabled: lacking });
  const [chosen, setChosen] = useState("");
  const model = chosen || configured;
  const none = lacking && model === "" && models.data !== undefined && !models.data.models?.some((m) => m.hasKey);
  const [text, setText] = useState(() => kept(draftKept) ?? "");
  const [name, setName] = useState("");
  const [waits, setWaits] = useState(false);
  const [dialog, setDialog] = useState<"folder" | "model">();
  const begin = useBegin();

  const write = (t: string) => {
    setText(t);
    keep(draftKept, t || undefined);
  };
  const choose = (path: string) => {
    setPicked(path);
    keep(folderKept, path);
    setDialog(undefined);
    begin.clear();
  };
  const send = (as = model, said = text) => {
    if (folder === "") return setDialog("folder");
    if (as === "") return setWaits(true);
    setWaits(false);
    void begin.run({ workDir: folder, model: as === configured ? "" : as, name: name.trim(), text: said.trim() });
  };
  // A message that was sent without a model goes as soon as there is one.
  const sendNow = useRef(send);
  sendNow.current = send;
  useEffect(() => {
    if (waits && model !== "") sendNow.current();
  }, [waits, model]);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    send();
  };
  const key = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing) return;
    if (matchMedia("(pointer: coarse)").matches && !e.ctrlKey && !e.metaKey) return; // a phone has a button
    e.preventDefault();
    send();
  };
  const back = <IconButton className="back" of={ChevronLeft} name={shell.back} onClick={() => go({ at: "home" })} />;
  if (!may)
    return (
      <main className="main">
        <div className="startbar">{back}</div>
        <p className="empty">{w.viewOnly}</p>
      </main>
    );
  const names = projectNames(projects);
  return (
    <main className="main">
      <div className="startbar">{back}</div>
      <div className="start">
        <div className="hello">
          {none ? (
            <Ways
              models={models.data?.models ?? []}
              folder={folder}
              onFolder={() => setDialog("folder")}
              onModel={(ref) => {
                setChosen(ref);
                config.reload();
              }}
              onDemo={() => {
                setChosen("demo");
                const said = text.trim() || w.demoTask;
                write(said);
                send("demo", said);
              }}
            />
          ) : (
            <>
              <h1>{w.newSession}</h1>
              <p className="lead">{w.newAbout}</p>
              <section className="where" aria-label={w.projects}>
                {projects.length > 0 && (
                  <ul>
                    {projects.slice(0, maxOffered).map((p) => (
                      <li key={p.projectId}>
                        <button type="button" aria-pressed={p.workDir === folder} title={p.workDir} onClick={() => choose(p.workDir)}>
                          <Icon of={Folder} />
                          <span className="trunc">{names.get(p.projectId)}</span>
                        </button>
                      </li>
                    ))}
                  </ul>
                )}
                <div className="field">
                  <label htmlFor="folder">{w.folder}</label>
                  <div className="pathline">
                    <input
                      id="folder"
                      className="input mono"
                      autoComplete="off"
                      autoCapitalize="off"
                      spellCheck={false}
                      value={picked ?? folder}
                      onChange={(e) => setPicked(e.target.value)}
                    />
                    <Button onClick={() => setDialog("folder")}>
                      <Icon of={FolderOpen} />
                      {w.browse}
                    </Button>
                  </div>
                </div>
                <p className="chosen t3">
                  {state.data?.branch && (
                    <>
                      <Icon of={GitBranch} small /> {w.branch(state.data.branch)}
                    </>
                  )}
                </p>
                <ErrorLine error={looked === folder && folder !== "" ? state.error : undefined} />
              </section>
              <div className="field">
                <label htmlFor="new-name">{w.nameOptional}</label>
                <input id="new-name" className="input" value={name} maxLength={200} onChange={(e) => setName(e.target.value)} />
              </div>
            </>
          )}
        </div>
      </div>
      <div className="dock startdock">
        <div className="in">
          <Connection />
          <ErrorLine error={begin.error ?? config.error ?? models.error} />
          {waits && (
            <p className="t3 waits" role="status">
              {w.waitsForModel}{" "}
              <Button look="plain" small onClick={() => setWaits(false)}>
                {w.cancel}
              </Button>
            </p>
          )}
          <form className="comp" onSubmit={submit}>
            <textarea
              id="composer"
              className="ta"
              aria-label={w.message}
              placeholder={none ? w.placeholderNoModel : w.placeholder}
              rows={1}
              value={text}
              onChange={(e) => write(e.target.value)}
              onKeyDown={key}
            />
            <div className="tools">
              <button type="button" className="pick" title={folder} onClick={() => setDialog("folder")}>
                <Icon of={Folder} />
                <span className="trunc">{folder ? baseOf(folder) : w.chooseFolder}</span>
                <Icon of={ChevronDown} />
              </button>
              <button type="button" className="pick" title={model} onClick={() => setDialog("model")} disabled={none}>
                <span className="trunc">{model ? shortModel(model) : none ? w.noModel : w.chooseModel}</span>
                <Icon of={ChevronDown} />
              </button>
              <span className="grow" />
              <Button look="ink" type="submit" disabled={begin.busy || (text.trim() === "" && (folder === "" || model === ""))}>
                {text.trim() === "" ? w.begin : w.send} <Icon of={ArrowUp} small />
              </Button>
            </div>
          </form>
        </div>
      </div>

      {dialog === "folder" && <FolderPicker start={folder} onPick={choose} onClose={() => setDialog(undefined)} />}
      {dialog === "model" && (
        <ModelPicker
          current={model}
          onPick={(ref) => {
            setChosen(ref);
            setDialog(undefined);
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {begin.asks?.kind === "wide" && (
        <Wide
          project={begin.asks.project}
          onYes={() => begin.answer(true)}
          onNo={() => {
            void begin.answer(false);
            setDialog("folder");
          }}
        />
      )}
      {begin.asks?.kind === "trust" && <Trust projectId={begin.asks.project.projectId} onDone={(without) => begin.answer(true, without)} />}
    </main>
  );
}

/** A text as the configuration has it, without its quotes. */
function unquoted(value: string | undefined): string {
  return (value ?? "").replace(/^"(.*)"$/, "$1");
}
