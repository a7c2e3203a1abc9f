import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp } from "lucide-react";
import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Dialog } from "../../protocol/index";
import { useClient, useLive, useSession } from "../host/context";
import { Button, IconButton } from "../parts/controls";
import { tell } from "../parts/tell";
import { exactText } from "../text/safe";
import { Drawn } from "../text/Terminal";
import { useWords } from "../words/index";
import { type Component, componentsOf } from "./components";
import { pasted, sequence } from "./sequence";
import { questionsWords } from "./words";
import "../text/terminal.css";

/** Within which time Esc is pressed twice to close it, in milliseconds. */
const twiceMs = 1000;

/** What an extension draws: here its newest frame and its keys, elsewhere where it is. */
export function ComponentSheet({ uiId, dialog, close, onClose }: { uiId: string; dialog: Dialog; close: ReactNode; onClose(): void }) {
  const w = useWords(questionsWords);
  const client = useClient();
  const { sessionId } = useSession();
  const component = useMemo(() => componentsOf(client).of(sessionId, uiId), [client, sessionId, uiId]);
  const { here, given } = useSyncExternalStore(
    useCallback((changed) => component.subscribe(changed), [component]),
    () => component.shown,
  );
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const live = useLive((_, s) => s.state === "live");
  useEffect(() => {
    if (size && given && live) component.take(...size);
    else if (size) component.resize(...size);
  }, [component, size, given, live]);
  const name = exactText(dialog.source || w.theExtension);
  return (
    <>
      <div ref={box} className="measure" />
      {here ? (
        <Panel component={component} name={name} onClose={onClose} />
      ) : (
        !given && <p className="why">{dialog.owner ? w.openIn(exactText(dialog.owner.clientName ?? "")) : w.nobodyHas}</p>
      )}
      <div className="acts">
        {close}
        {!here && !given && (
          <Button look="lamp" data-choice="" disabled={!size} onClick={() => size && component.take(...size)}>
            <kbd>1</kbd> {w.openHere}
          </Button>
        )}
      </div>
    </>
  );
}

/** How many columns and lines there is room for in a box; the lines are those that a sheet may take of the window. */
function useSize(box: RefObject<HTMLDivElement | null>): [number, number] | undefined {
  const [size, setSize] = useState<[number, number]>();
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const probe = document.createElement("span");
    probe.className = "probe";
    probe.textContent = "0".repeat(50);
    el.append(probe);
    const look = () => {
      const { width, height } = probe.getBoundingClientRect();
      if (width === 0 || el.clientWidth === 0) return;
      const next: [number, number] = [
        Math.max(1, Math.floor((el.clientWidth * 50) / width)),
        Math.max(5, Math.floor((innerHeight * 0.4) / height)),
      ];
      setSize((s) => (s && s[0] === next[0] && s[1] === next[1] ? s : next));
    };
    const seen = new ResizeObserver(look);
    seen.observe(el);
    addEventListener("resize", look);
    look();
    return () => {
      seen.disconnect();
      removeEventListener("resize", look);
      probe.remove();
    };
  }, [box]);
  return size;
}

/** A component that is on this page. */
function Panel({ component, name, onClose }: { component: Component; name: string; onClose(): void }) {
  const w = useWords(questionsWords);
  const { frame, late } = component.shown;
  const keys = useRef<HTMLTextAreaElement>(null);
  const escaped = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) keys.current?.focus(); // elsewhere a keyboard would cover the half of it
  }, []);
  const press = (data: string) => {
    const now = performance.now();
    if (data === "\x1b" && now - escaped.current < twiceMs) return onClose();
    escaped.current = data === "\x1b" ? now : Number.NEGATIVE_INFINITY;
    if (!component.press(data)) tell(w.typedLost);
  };
  const typed = () => {
    const el = keys.current;
    if (!el || el.value === "") return;
    const text = el.value.replaceAll("\n", "\r");
    el.value = "";
    for (const c of text) press(c);
  };
  const pressed = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (e.nativeEvent.isComposing) return;
    e.stopPropagation(); // keys of the page are no keys of the page here
    if (e.key === "F6") {
      e.preventDefault();
      return e.currentTarget.closest<HTMLElement>(".sheet")?.querySelector<HTMLElement>(".acts button")?.focus();
    }
    const selected = (getSelection()?.toString() ?? "") !== "";
    if (e.ctrlKey && !e.altKey && (e.key === "v" || (e.key === "c" && selected))) return; // pasting and copying are the browser's
    const data = sequence(e);
    if (data === "") return;
    e.preventDefault();
    press(data);
  };
  const paste = (e: ClipboardEvent) => {
    e.preventDefault();
    const text = e.clipboardData.getData("text");
    if (text !== "") press(pasted(text));
  };
  const at = frame?.cursor;
  const place = at ? ({ "--row": at.row, "--column": at.column } as CSSProperties) : undefined;
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is at the field in it */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a click leads the keys there */}
      <div className="component term" onClick={() => getSelection()?.isCollapsed && keys.current?.focus()}>
        <div className="drawing" style={place}>
          <pre>{frame?.lines ? <Drawn lines={frame.lines} /> : w.waitingFor(name)}</pre>
          {at && <span className="caret" aria-hidden="true" />}
          <textarea
            ref={keys}
            className="keys"
            rows={1}
            aria-label={w.typeHere}
            aria-describedby="component-keys"
            placeholder={w.typeHere}
            autoCapitalize="off"
            autoComplete="off"
            autoCorrect="off"
            spellCheck={false}
            onKeyDown={pressed}
            onInput={(e) => !(e.nativeEvent as InputEvent).isComposing && typed()}
            onCompositionEnd={typed}
            onPaste={paste}
          />
        </div>
      </div>
      {late && (
        <p className="why" role="status">
          {w.silent(name)}
        </p>
      )}
      <p className="why keysgo" id="component-keys">
        {w.keysGo}
      </p>
      <div className="keybar">
        <IconButton of={ArrowUp} name={w.up} onClick={() => press("\x1b[A")} />
        <IconButton of={ArrowDown} name={w.down} onClick={() => press("\x1b[B")} />
        <IconButton of={ArrowLeft} name={w.left} onClick={() => press("\x1b[D")} />
        <IconButton of={ArrowRight} name={w.right} onClick={() => press("\x1b[C")} />
        <Button small onClick={() => press("\t")}>
          Tab
        </Button>
        <Button small onClick={() => press("\x1b")}>
          Esc
        </Button>
        <Button small look="ink" onClick={() => press("\r")}>
          Enter
        </Button>
      </div>
    </>
  );
}
