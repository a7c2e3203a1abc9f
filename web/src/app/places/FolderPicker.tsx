import { CornerLeftUp, Folder, FolderGit2, House } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { DirectoryList } from "../../protocol/index";
import { useAnswer } from "../host/context";
import { Button, Dialog, Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { above, folderOf, matching, readPath } from "./paths";
import { startWords } from "./startwords";
import { baseOf } from "./summary";
import "./start.css";

/** How many folders are drawn; typing narrows the list. */
const maxShown = 300;
/** How long a person may type before the host is asked. */
const typingMs = 120;

/** Picks a folder of the host: by its path, with completion, or by going through folders. */
export default function FolderPicker({ start, onPick, onClose }: { start: string; onPick(path: string): void; onClose(): void }) {
  const w = useWords(startWords);
  const [text, setText] = useState(start === "" ? "" : `${folderOf(start)}/`.replace("//", "/"));
  const [asked, setAsked] = useState(text);
  const [on, setOn] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  useLayoutEffect(() => input.current?.focus(), []); // before the dialog gives the focus to its first button
  const { ask } = readPath(asked);
  const answer = useAnswer("list_directories", { path: ask });
  // What was listed last stays until the next list is there, so that nothing jumps.
  const last = useRef<DirectoryList>(undefined);
  if (answer.data) last.current = answer.data;
  const got = answer.error ? undefined : last.current;
  const { dir, part } = readPath(text);
  const path = got?.path ?? "";
  useEffect(() => {
    if (path) setText((t) => (t === "" ? `${path}/`.replace("//", "/") : t));
  }, [path]);
  const found = matching(got?.entries ?? [], part.startsWith(".") && part.length === 1 ? "" : part);
  const shown = found.slice(0, maxShown);
  const into = (name: string) => move(`${dir}${name}/`);
  const move = (to: string) => {
    setText(to);
    setAsked(to);
    setOn(-1);
    input.current?.focus();
  };
  useEffect(() => {
    list.current?.children[on]?.scrollIntoView({ block: "nearest" });
  }, [on]);
  const chosen = folderOf(part === "" ? dir : text) || "/";
  const key = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    const end = input.current?.selectionStart === text.length;
    const active = shown[on] ?? (part !== "" && shown.length > 0 ? shown[0] : undefined);
    if (e.key === "ArrowDown") setOn(Math.min(on + 1, shown.length - 1));
    else if (e.key === "ArrowUp") setOn(Math.max(on - 1, -1));
    else if (e.key === "ArrowLeft" && on >= 0) move(above(dir));
    else if (e.key === "ArrowRight" && end && active) into(active.name);
    else if (e.key === "Tab" && !e.shiftKey && part !== "" && active && active.name !== part) into(active.name);
    else if (e.key === "Enter" && on >= 0 && shown[on]) into(shown[on].name);
    else if (e.key === "Enter") onPick(chosen);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog open onClose={onClose} title={w.chooseFolder} about={w.pathAbout}>
      <div className="picker">
        <div className="pathline">
          <IconButton of={CornerLeftUp} name={w.up} disabled={dir === "/"} onClick={() => move(above(part === "" ? dir : `${dir}x`))} />
          <IconButton of={House} name={w.home} onClick={() => move("~/")} />
          <input
            ref={input}
            className="input mono"
            aria-label={w.path}
            role="combobox"
            aria-expanded="true"
            aria-controls="folder-list"
            aria-activedescendant={on >= 0 ? `folder-${on}` : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={text}
            onChange={(e) => {
              setText(e.target.value);
              setOn(-1);
            }}
            onKeyDown={key}
          />
        </div>
        <ErrorLine error={answer.error} />
        <ul ref={list} id="folder-list" role="listbox" aria-label={w.folders(got?.path ?? "")} className="folders">
          {shown.map((e, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, as in any combobox
            <li
              key={e.name}
              id={`folder-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === on}
              className="mi"
              onClick={() => into(e.name)}
            >
              <Icon of={e.git ? FolderGit2 : Folder} />
              <span className="trunc">{e.name}</span>
              <span className="t3 right">{[e.git && w.repository, e.projectId && w.known].filter(Boolean).join(", ")}</span>
            </li>
          ))}
        </ul>
        {got && !answer.loading && shown.length === 0 && <p className="t3">{part === "" ? w.noFolders : w.noSuch}</p>}
        {(got?.more || found.length > maxShown) && <p className="t3">{w.moreFolders}</p>}
      </div>
      <div className="acts">
        <Button onClick={onClose}>{w.cancel}</Button>
        <Button look="ink" onClick={() => onPick(chosen)} disabled={chosen === ""}>
          {chosen === "~" || chosen === "/" ? w.useFolder : w.takeNamed(baseOf(chosen))}
        </Button>
      </div>
    </Dialog>
  );
}
