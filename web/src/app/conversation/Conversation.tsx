import { ArrowDown, ChevronDown, ChevronRight, Copy, Ellipsis, GitBranch, Link as LinkIcon, Pencil, Undo2 } from "lucide-react";
import { type ReactNode, memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { newSessionID } from "../../client/index";
import type { EventID } from "../../protocol/index";
import { sentence, useClient, useLive, useMay, usePath, useSession, useVersion } from "../host/context";
import { Button, Divider, Icon, IconButton, Menu, MenuItem } from "../parts/controls";
import { announce, tell } from "../parts/tell";
import { go, hrefOf } from "../route";
import { Markdown } from "../text/Markdown";
import { askMove } from "../tree/asked";
import { fullTime, time } from "../words/format";
import { useWords } from "../words/index";
import { liveRows, type Row, rowsOf } from "./rows";
import { StepRow } from "./StepRow";
import { conversationWords } from "./words";
import "./conversation.css";

/** How near to its end a list follows what comes, in pixels. */
const nearEnd = 80;

/** What was said and done: the events of the path, and what is running. */
export function Conversation({ event }: { event?: EventID | undefined }) {
  const w = useWords(conversationWords);
  const session = useSession();
  const path = usePath();
  const more = useLive((_, s) => s.projection.more);
  const running = useLive((l) => l.running);
  const rows = useMemo(() => rowsOf(path), [path]);
  const box = useRef<HTMLElement>(null);
  const pinned = useRef(true);
  const [away, setAway] = useState<number>(); // how many rows there were when the end was left

  const follow = useCallback(() => {
    const el = box.current;
    if (el && pinned.current) el.scrollTop = el.scrollHeight;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows are what is followed
  useLayoutEffect(follow, [rows, follow]);
  const scrolled = () => {
    const el = box.current;
    if (!el) return;
    pinned.current = el.scrollHeight - el.scrollTop - el.clientHeight < nearEnd;
    setAway((a) => (pinned.current ? undefined : (a ?? rows.length)));
  };
  useEffect(() => {
    if (!event) return;
    const el = document.getElementById(`e-${event}`);
    if (!el) return;
    pinned.current = false;
    el.scrollIntoView({ block: "center" });
    el.classList.add("found");
  }, [event]);
  const before = useRef(running);
  useEffect(() => {
    if (before.current && !running) announce(w.ended);
    before.current = running;
  }, [running, w]);

  return (
    <section ref={box} className="scroll" aria-label={w.conversation} onScroll={scrolled} onKeyDown={roam}>
      <div className="flow">
        {more && (
          <Button look="plain" small onClick={() => session.older(200)}>
            {w.older}
          </Button>
        )}
        {rows.length === 0 && !running && <p className="empty">{w.empty}</p>}
        <Rows rows={rows} />
        <Running onDraw={follow} />
      </div>
      {away !== undefined && (
        <Button
          className="jump"
          small
          onClick={() => {
            pinned.current = true;
            follow();
          }}
        >
          <Icon of={ArrowDown} small />
          {rows.length > away ? w.newRows(rows.length - away) : w.toEnd}
        </Button>
      )}
    </section>
  );
}

/** Up and down go from step to step. */
function roam(e: React.KeyboardEvent<HTMLElement>): void {
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  if (!(e.target instanceof HTMLElement) || !e.target.matches(".line, .think")) return;
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>(".line, .think")];
  const next = all[all.indexOf(e.target) + (e.key === "ArrowDown" ? 1 : -1)];
  if (!next) return;
  e.preventDefault();
  next.focus();
}

const Rows = memo(function Rows({ rows }: { rows: readonly Row[] }) {
  const out: ReactNode[] = [];
  let start = 0; // of the turn
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    if (!r) continue;
    if (r.kind === "said") start = r.at;
    const steps: Row[] = [];
    while (rows[i + steps.length]?.kind === "step") steps.push(rows[i + steps.length] as Row);
    if (steps.length > 0) {
      i += steps.length - 1;
      out.push(
        <Bar key={r.key} at={at(r, start)}>
          <div className="steps">{steps.map((s) => s.kind === "step" && <StepRow key={s.key} step={s} />)}</div>
        </Bar>,
      );
    } else out.push(<RowView key={r.key} row={r} start={start} />);
  }
  return <>{out}</>;
});

/** When a row was, seen from the beginning of its turn; of a message of a person the time of the day. */
function at(r: Row, start: number): string {
  if (r.kind === "said") return time(r.at);
  if (!("at" in r) || !start || r.at < start || r.at - start > 3_600_000) return "";
  const s = Math.floor((r.at - start) / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

function Bar({ at, id, children }: { at: string; id?: string; children: ReactNode }) {
  return (
    <div className="bar" id={id}>
      <span className="at">{at}</span>
      <div className="cell">{children}</div>
    </div>
  );
}

function RowView({ row, start }: { row: Row; start: number }) {
  const w = useWords(conversationWords);
  switch (row.kind) {
    case "said":
      return (
        <Bar at={at(row, start)} id={`e-${row.event}`}>
          <div className="said" title={fullTime(row.at)}>
            <h2 className="words">{row.text}</h2>
            <SaidMenu row={row} />
            {(row.from !== "" || row.pictures > 0 || row.files.length > 0) && (
              <p className="by">
                {[w.from(row.from), row.pictures > 0 ? w.pictures(row.pictures) : "", ...row.files].filter(Boolean).join(" · ")}
              </p>
            )}
          </div>
        </Bar>
      );
    case "prose":
      return (
        <Bar at={at(row, start)}>
          <Markdown text={row.text} streaming={row.growing} />
        </Bar>
      );
    case "thinking":
      return (
        <Bar at={at(row, start)}>
          <Thinking row={row} />
        </Bar>
      );
    case "step":
      return (
        <Bar at={at(row, start)}>
          <div className="steps">
            <StepRow step={row} />
          </div>
        </Bar>
      );
    case "marker":
      return <Marker text={row.text} body={row.body} />;
    case "failed":
      return (
        <Bar at="">
          <p className="errline" role="alert">
            {row.text}
          </p>
        </Bar>
      );
  }
}

function Thinking({ row }: { row: Extract<Row, { kind: "thinking" }> }) {
  const w = useWords(conversationWords);
  const [open, setOpen] = useState(false);
  const first = row.text.trim().split("\n")[0] ?? "";
  return (
    <>
      <button type="button" className="think" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon of={open ? ChevronDown : ChevronRight} small />
        <span className="trunc">{row.growing ? w.thinking : w.thought(first.slice(0, 200))}</span>
      </button>
      {open && <div className="thoughts">{row.text}</div>}
    </>
  );
}

function Marker({ text, body }: { text: string; body: string }) {
  if (!body) return <p className="marker">{text}</p>;
  return (
    <details className="folded">
      <summary className="marker">{text}</summary>
      <Markdown text={body} />
    </details>
  );
}

/** What can be done with a message of a person. */
function SaidMenu({ row }: { row: Extract<Row, { kind: "said" }> }) {
  const w = useWords(conversationWords);
  const client = useClient();
  const session = useSession();
  const may = useMay("control");
  const { sessionId } = session;
  const failed = (e: unknown) => tell(sentence(e));
  const copy = (text: string) =>
    navigator.clipboard.writeText(text).then(
      () => tell(w.copied, { bad: false }),
      () => tell(w.notCopied),
    );
  const rewind = (restoreFiles: boolean) => {
    const e = session.projection.path.find((p) => p.id === row.event);
    if (!e) return;
    client
      .call("rewind_to", { targetEventId: e.parentId, ...(restoreFiles ? { restoreFiles } : {}) }, { sessionId })
      .then(
        (moved) => tell(restoreFiles ? w.rewound(moved.restored?.length ?? 0, moved.skipped?.length ?? 0) : w.moved, { bad: false }),
        failed,
      );
  };
  const edit = () => {
    const e = session.projection.path.find((p) => p.id === row.event);
    if (e) askMove({ title: w.edit, target: e.parentId, rewind: true, leaves: true, edit: row.event });
  };
  const branch = () => {
    const id = newSessionID();
    client
      .call("clone_session", { fromSessionId: sessionId, fromEventId: row.event }, { sessionId: id })
      .then(() => go({ at: "session", id }), failed);
  };
  return (
    <Menu label={w.actions} trigger={<IconButton className="saidmenu" of={Ellipsis} name={w.actions} small />}>
      <MenuItem of={Copy} onSelect={() => copy(row.text)}>
        {w.copy}
      </MenuItem>
      <MenuItem
        of={LinkIcon}
        onSelect={() => copy(`${location.href.split("#")[0]}${hrefOf({ at: "session", id: sessionId, event: row.event })}`)}
      >
        {w.copyLink}
      </MenuItem>
      {may && (
        <>
          <MenuItem of={GitBranch} onSelect={branch}>
            {w.branch}
          </MenuItem>
          <Divider />
          <MenuItem of={Pencil} onSelect={edit}>
            {w.edit}
          </MenuItem>
          <MenuItem of={Undo2} onSelect={() => rewind(false)}>
            {w.rewind}
          </MenuItem>
          <MenuItem of={Undo2} onSelect={() => rewind(true)}>
            {w.rewindFiles}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

/** What is coming in: it alone is drawn again with each piece. */
function Running({ onDraw }: { onDraw(): void }) {
  const w = useWords(conversationWords);
  useVersion();
  const { live } = useSession().projection;
  const began = useRef(Date.now());
  useLayoutEffect(onDraw);
  const rows = liveRows(live.messages, live.tools, began.current);
  return (
    <>
      {rows.map((r) => (
        <RowView key={r.key} row={r} start={0} />
      ))}
      {live.retry && <p className="marker">{w.retry(live.retry.attempt, live.retry.maxAttempts, live.retry.error)}</p>}
      {!live.running && live.ended?.error && (
        <Bar at="">
          <p className="errline" role="alert">
            {live.ended.error.message}
          </p>
        </Bar>
      )}
    </>
  );
}
