import { ArrowUp, CornerDownRight, Paperclip, Square, X } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { RequestError } from "../../client/index";
import { cleanLine, cleanText } from "../../display/index";
import type { EventID } from "../../protocol/index";
import { useAction, useClient, useLive, useMay, useOutbox, useSession, useStatus, useUnsent, useUpdates } from "../host/context";
import type { Unsent } from "../host/outbox";
import { Button, Dialog, Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { announce, tell } from "../parts/tell";
import { usePhone } from "../places/hooks";
import { useLanguage, useWords } from "../words/index";
import { draftOf, filesOf, holdDraft, keepDraft, keepFiles, maxDraft, onDraftGone } from "./drafts";
import { useErrands } from "./errands";
import { useHandedOver } from "./handover";
import { historyOf, remember, step, type Walk } from "./history";
import { useInForce } from "./inforce";
import { Offers } from "./Offers";
import { insteadOf, ownOf, type Picking, useOwnCommands } from "./own";
import { Pickers } from "./pickers";
import { Queue } from "./Queue";
import { Shown } from "./Shown";
import { type Typed, typedOf } from "./typed";
import { useCompletion } from "./useCompletion";
import { Voice } from "./Voice";
import { type ComposerWords, composerWords } from "./words";
import "./composer.css";

/** The largest file that is attached, in bytes. */
const maxFile = 20_000_000;

/** Where a person writes. What was written is kept until the host has taken it. */
export function Composer() {
  const w = useWords(composerWords);
  return useMay("control") ? <Box /> : <p className="comp ro ta">{w.watching}</p>;
}

function Box() {
  const w = useWords(composerWords);
  const language = useLanguage();
  const client = useClient();
  const status = useStatus();
  const session = useSession();
  const { sessionId } = session;
  const phone = usePhone();
  const running = useLive((l) => l.running);
  const turnId = useLive((l) => l.turnId);
  const [over, setOver] = useState<EventID>(); // a command of the person that has ended, though its result waits for the turn's next step
  const shell = useLive((l) => l.tools?.find((t) => t.shell && t.eventId !== over)?.eventId);
  const [text, setTextNow] = useState(() => draftOf(sessionId));
  const [cursor, setCursor] = useState(text.length);
  const [placed, setPlaced] = useState<{ at: number }>(); // where the cursor was put last, other than by a key
  const [focused, setFocused] = useState(false);
  const [files, setFilesNow] = useState(() => filesOf(sessionId));
  const [problem, setProblem] = useState("");
  const [notice, setNotice] = useState("");
  const [replaced, setReplaced] = useState<{ by: string; had: string }>();
  const [picking, setPicking] = useState<Picking>();
  const picker = useRef<HTMLInputElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const walk = useRef<Walk>(undefined);
  const said = useRef(text); // of more than one change before the next drawing, too
  said.current = text;
  const setText = (t: string) => {
    said.current = t;
    setTextNow(t);
    keepDraft(sessionId, t);
  };
  const setFiles = (list: readonly File[]) => {
    keepFiles(sessionId, list);
    setFilesNow(list);
  };
  const attach = (more: readonly File[]) => setFiles([...filesOf(sessionId), ...more]);
  /** Writes a text as if it were typed, with the cursor at its end. */
  const write = (t: string) => {
    setText(t);
    setCursor(t.length);
    setPlaced({ at: t.length });
  };
  // With the text itself: a key that comes after it finds the cursor there, and is not undone by it.
  useLayoutEffect(() => {
    if (placed) area.current?.setSelectionRange(placed.at, placed.at);
  }, [placed]);
  const open = useCallback((p: Picking) => {
    if (p === "file") picker.current?.click();
    else setPicking(p);
  }, []);
  const inForce = useInForce();
  const own = useOwnCommands(open, inForce.levels.length > 0);
  const completion = useCompletion(text, cursor, focused, own);
  const say = (t: string) => {
    setNotice(t);
    announce(t);
  };
  const errands = useErrands({
    back: (typed, error) => {
      if (text === "") write(typed);
      setProblem(text === "" ? error : w.notRun(typed, error));
    },
    write: (t) => write([text, t].filter(Boolean).join("\n")),
    say,
  });
  useHandedOver(sessionId, (given) => {
    write(text ? `${text}\n${given.text}` : given.text);
    attach(given.files);
  });
  useUpdates((u) => {
    for (const e of u.events) {
      if (e.type !== "ui_state" || e.place !== "editor" || !e.lines?.length) continue;
      const offered = cleanText(e.lines.join("\n"));
      const had = said.current.trim();
      if (had !== "" && had !== offered.trim()) {
        setReplaced({ by: cleanLine(e.source), had: said.current });
        announce(w.replaced(cleanLine(e.source)));
      }
      write(offered);
    }
  });
  const outbox = useOutbox();
  const unsent = useUnsent();
  const putBack = (m: Unsent) => {
    write(said.current ? `${m.typed}\n${said.current}` : m.typed);
    setFiles([...m.files, ...filesOf(sessionId)]);
    if (m.error) setProblem(`${w.unsent} ${m.error}`);
  };
  useEffect(() => onDraftGone(sessionId, () => setTextNow("")), [sessionId]);
  const newest = useRef(putBack);
  newest.current = putBack;
  useEffect(() => outbox.onRefused(sessionId, (m) => newest.current(m)), [outbox, sessionId]);
  const stop = useAction(async () => {
    if (shell) {
      const { cancelled } = await client.call("stop_shell", { eventId: shell }, { sessionId });
      if (cancelled) return;
      setOver(shell);
      if (turnId) setNotice(w.commandEnded);
    } else if (turnId) await client.call("cancel", { turnId }, { sessionId });
  });
  const stops = running || shell !== undefined;

  const message = (said: string, written: string, now: boolean) => {
    if (said === "" && files.length === 0) return;
    if (written.trim() !== "") remember(sessionId, written.trim());
    outbox.add({ sessionId, type: now ? "steer" : "send_message", typed: written.trim(), text: said, files });
    setText("");
    setFiles([]);
  };
  /** Why a line cannot be done at all, "" if it can. */
  const wrong = (t: Typed): string => {
    if (t.kind === "shell" && t.command === "") return w.commandMissing;
    if (t.kind === "note" && t.text === "") return w.noteMissing;
    if (t.kind === "command" && t.args !== "" && ownOf(own, t.name)?.hint === "") return w.takesNothing(t.name);
    return "";
  };
  const command = async (name: string, args: string, now: boolean) => {
    const done = ownOf(own, name)?.run(args);
    if (done) {
      const status = await done;
      return () => typeof status === "string" && errands.ran(name, { status });
    }
    if (name === "") throw new Error(w.noCommand(name));
    try {
      const got = await client.call("run_command", { name, args, moves: true, whenBusy: now ? "steer" : "followUp" }, { sessionId });
      return () => errands.ran(name, got);
    } catch (e) {
      throw isNoCommand(e) ? new Error(noCommand(name, insteadOf(name, language), w)) : e;
    }
  };
  const submit = (now = false, written = text) => {
    const typed = typedOf(written);
    walk.current = undefined;
    setProblem(wrong(typed));
    setNotice("");
    setReplaced(undefined);
    if (wrong(typed) !== "") return;
    if (typed.kind === "message") return message(typed.text, written, now);
    remember(sessionId, written.trim());
    setText("");
    setCursor(0);
    // Without a connection it is kept until it was done, so that it outlives the page.
    const done = status.state === "connected" ? () => {} : holdDraft(sessionId, written.trim());
    const run = (act: () => Promise<unknown>, then?: (got: unknown) => void) =>
      errands.run(written.trim(), () => act().finally(done), then);
    switch (typed.kind) {
      case "command":
        return run(
          () => command(typed.name, typed.args, now),
          (show) => typeof show === "function" && show(),
        );
      case "shell":
        return run(() => client.call("run_shell", { command: typed.command, inContext: typed.inContext }, { sessionId }));
      case "note":
        return run(
          () => client.call("add_memory", { scope: typed.scope, text: typed.text }, { sessionId }),
          () => say(w.noted),
        );
    }
  };

  /** Takes what is offered into the text; what is complete by itself is also sent, where sends says so. */
  const pick = (i: number, sends: boolean) => {
    const offer = completion.offers[i];
    const { token } = completion;
    if (!offer || !token) return;
    const rest = text.slice(cursor);
    const before = text.slice(0, token.start) + offer.value;
    if (sends && offer.whole && rest.trim() === "") return submit(false, before);
    const blank = token.kind === "argument" || /^\s/.test(rest) ? "" : " ";
    area.current?.focus();
    area.current?.setSelectionRange(token.start, cursor);
    // As if it were typed, so that it can be undone.
    if (!document.execCommand("insertText", false, offer.value + blank)) write(before + blank + rest);
    if (token.kind === "argument") completion.dismiss();
  };
  const recall = (by: -1 | 1): boolean => {
    const at = walk.current?.shown === text ? walk.current : undefined;
    if (!at && (text !== "" || by > 0)) return false;
    const list = at?.list ?? historyOf(sessionId, session.projection.path);
    const next = step(at ?? { list, at: list.length, shown: "" }, by);
    if (!next) return false;
    walk.current = next;
    write(next.shown);
    return true;
  };

  const key = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (e.nativeEvent.isComposing || e.keyCode === 229) return;
    const { token, offers, on } = completion;
    const mod = e.ctrlKey || e.metaKey;
    const plain = !mod && !e.altKey && !e.shiftKey;
    if (token && offers.length > 0 && plain) {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        e.preventDefault();
        return completion.move(e.key === "ArrowDown" ? 1 : -1);
      }
      // What is typed in full needs no completion: Enter sends it.
      const whole = token.kind !== "file" && offers[on]?.value === text.slice(token.start, cursor);
      if ((e.key === "Enter" && on >= 0 && !whole) || e.key === "Tab") {
        e.preventDefault();
        return pick(Math.max(on, 0), e.key === "Enter");
      }
    }
    if (e.key === "Escape") {
      if (offers.length > 0) e.preventDefault();
      if (offers.length > 0) return completion.dismiss();
      if (stops) e.preventDefault();
      if (stops) void stop.run();
      return;
    }
    if (e.key === "Enter") {
      if (e.shiftKey) return;
      if (matchMedia("(pointer: coarse)").matches && !mod) return; // a phone has a button
      e.preventDefault();
      return submit(mod && running);
    }
    const t = e.currentTarget;
    if (!plain || t.selectionStart !== t.selectionEnd) return;
    if (e.key === "ArrowUp" && !text.slice(0, t.selectionStart).includes("\n") && recall(-1)) e.preventDefault();
    if (e.key === "ArrowDown" && !text.slice(t.selectionEnd).includes("\n") && recall(1)) e.preventDefault();
  };
  const take = (list: Iterable<File>) => {
    const all = [...list];
    for (const f of all) if (f.size > maxFile) tell(w.tooLarge(f.name));
    attach(all.filter((f) => f.size <= maxFile));
  };
  const paste = (e: ClipboardEvent) => {
    if (e.clipboardData.files.length === 0) return;
    e.preventDefault();
    take(e.clipboardData.files);
  };
  const drop = (e: DragEvent) => {
    e.preventDefault();
    take(e.dataTransfer.files);
  };
  const typed = typedOf(text);
  const { kind } = typed;
  const empty = text.trim() === "" && (kind !== "message" || files.length === 0);
  const says = saysOf(kind, running, w);
  const listed = completion.offers.length > 0;
  // A box of several lines is a text box. While something is offered it is the combobox of that list.
  const combobox = listed
    ? {
        role: "combobox",
        "aria-expanded": true,
        "aria-controls": "offers",
        ...(completion.on >= 0 ? { "aria-activedescendant": `offer-${completion.on}` } : {}),
      }
    : {};
  return (
    <>
      <Queue onEdit={(t) => setText(text ? `${text}\n${t}` : t)} onTake={putBack} />
      <Shown place="above" />
      <form
        className={`comp ${kind}`}
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          submit();
        }}
        onDragOver={(e) => e.preventDefault()}
        onDrop={drop}
      >
        <Offers completion={completion} onPick={(i) => pick(i, false)} />
        {files.length > 0 && (
          <ul className="files">
            {files.map((f, i) => (
              <li key={`${i} ${f.name}`} className="chip">
                {f.name}
                <IconButton of={X} name={w.attached(f.name)} small onClick={() => setFiles(files.filter((o) => o !== f))} />
              </li>
            ))}
          </ul>
        )}
        <Becomes typed={typed} />
        <textarea
          id="composer"
          ref={area}
          className="ta"
          aria-label={w.message}
          aria-describedby={kind === "shell" || kind === "note" ? "becomes" : undefined}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          {...combobox}
          placeholder={phone ? w.placeholderShort : w.placeholder}
          spellCheck={kind !== "shell"}
          rows={1}
          value={text}
          onChange={(e) => {
            setText(e.target.value);
            setCursor(e.target.selectionStart);
            setProblem("");
          }}
          onSelect={(e) => setCursor(e.currentTarget.selectionStart)}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
          onKeyDown={key}
          onPaste={paste}
        />
        <ErrorLine error={problem} />
        {text.length > maxDraft && <p className="notice">{w.tooLong(maxDraft)}</p>}
        {notice && (
          <p className="notice">
            <span className="grow">{notice}</span>
            <IconButton of={X} name={w.dismiss} small onClick={() => setNotice("")} />
          </p>
        )}
        {replaced && (
          <p className="notice">
            <span className="grow">{w.replaced(replaced.by)}</span>
            <Button
              look="plain"
              onClick={() => {
                write(replaced.had);
                setReplaced(undefined);
              }}
            >
              {w.bringBack}
            </Button>
            <IconButton of={X} name={w.dismiss} small onClick={() => setReplaced(undefined)} />
          </p>
        )}
        {(unsent.length > 0 || errands.waiting > 0) && status.state !== "connected" && (
          <p className="errline" role="status">
            {unsent.some((m) => !m.stored) ? w.keptHere : w.kept}
          </p>
        )}
        {status.state === "connected" &&
          errands.going.map((g, i) => (
            <p key={`${i} ${g}`} className="t3 goes trunc">
              {w.runs(g)}
            </p>
          ))}
        <ErrorLine error={stop.error} />
        <div className={stops ? "tools busy" : "tools"}>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={(e) => {
              take(e.target.files ?? []);
              e.target.value = "";
            }}
          />
          <IconButton of={Paperclip} name={w.attach} onClick={() => picker.current?.click()} />
          <Voice onText={(t) => write(said.current.trim() === "" ? t : `${said.current.trimEnd()} ${t}`)} />
          <Pickers inForce={inForce} open={picking} onOpen={setPicking} />
          <span className="does">
            {stops && (
              <Button look="plain" title={w.stop} onClick={() => void stop.run()} disabled={stop.busy}>
                <Icon of={Square} small /> <span className="says">{w.stop}</span> <kbd className="hint">Esc</kbd>
              </Button>
            )}
            {running && !empty && (kind === "message" || kind === "command") && (
              <Button look="plain" title={w.sendNow} onClick={() => submit(true)}>
                <Icon of={CornerDownRight} small className="only" /> <span className="says">{w.sendNow}</span>{" "}
                <kbd className="hint">Ctrl ↵</kbd>
              </Button>
            )}
            <Button look="ink" type="submit" title={says} disabled={empty}>
              <span className="says">{says}</span> <Icon of={ArrowUp} small />
            </Button>
          </span>
        </div>
      </form>
      <Shown place="below" />
      <Dialog open={errands.printed !== undefined} onClose={errands.close} title={errands.printed?.title ?? ""}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
        <pre className="printed" tabIndex={0}>
          {errands.printed?.text}
        </pre>
        <div className="acts">
          <Button onClick={errands.close}>{w.close}</Button>
        </div>
      </Dialog>
    </>
  );
}

/** What a text is for that no list explains: a shell line or a note. */
function Becomes({ typed }: { typed: Typed }) {
  const w = useWords(composerWords);
  if (typed.kind !== "shell" && typed.kind !== "note") return null;
  const [what, about] =
    typed.kind === "shell"
      ? [w.shell, typed.inContext ? w.shellTold : w.shellApart]
      : [w.note, typed.scope === "user" ? w.noteUser : w.noteHere];
  return (
    <p id="becomes" className="becomes">
      <b>{what}</b> <span className="t2">{about}</span>
    </p>
  );
}

function saysOf(kind: Typed["kind"], running: boolean, w: ComposerWords): string {
  if (kind === "shell" || kind === "command") return w.run;
  if (kind === "note") return w.addNote;
  return running ? w.queue : w.send;
}

/** The host has no command of that name, as it says itself. */
function isNoCommand(e: unknown): boolean {
  return e instanceof RequestError && (e.details as { reason?: string } | undefined)?.reason === "command";
}

function noCommand(name: string, instead: string, w: ComposerWords): string {
  return instead ? w.otherPlace(name, instead) : w.noCommand(name);
}
