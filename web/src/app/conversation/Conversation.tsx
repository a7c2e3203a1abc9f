import { ArrowDown, ChevronDown, ChevronRight } from "lucide-react";
import { type ReactNode, memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { EventID } from "../../protocol/index";
import { useHost, useLive, usePath, useSession, useVersion } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { announce, tell } from "../parts/tell";
import { Markdown } from "../text/Markdown";
import { Picture } from "../text/Picture";
import { literalText, safeText } from "../text/safe";
import { fullTime, time } from "../words/format";
import { useWords } from "../words/index";
import type { Span } from "./Lane";
import { Folded, Unfolding } from "./Folded";
import { AnswerMenu, SaidMenu } from "./Menus";
import { Retry } from "./Retry";
import { joined, liveRows, newestOf, type Prose, parted, type Row, rowsOf } from "./rows";
import { StepRow } from "./StepRow";
import { TurnHead } from "./TurnHead";
import { Whole } from "./Whole";
import { conversationWords } from "./words";
import "./conversation.css";

/** How near to its end a list follows what comes, in pixels. */
const nearEnd = 80;
/** How long a wheel, a finger or a key may have been the cause of a scrolling, in milliseconds. */
const usedFor = 1000;
/** How near to its beginning older messages are asked for, in pixels. */
const nearBegin = 1200;
/** How many events are asked for then: to draw them takes less than 100 ms on a slow machine. */
const olderPart = 60;
/** How many rows are drawn first; the others follow in such parts when these can be seen. */
const firstRows = 30;

/** What was said and done: the events of the path, and what is running. */
export function Conversation({ event }: { event?: EventID | undefined }) {
  const w = useWords(conversationWords);
  const session = useSession();
  const path = usePath();
  const more = useLive((_, s) => s.projection.more);
  const full = useLive((_, s) => s.projection.full);
  const running = useLive((l) => l.running);
  const turn = useLive((l, s) => l.running || s.state !== "live"); // or one may run that is not known of
  const { rows: all, open } = useMemo((): ReturnType<typeof parted> => {
    const rows = rowsOf(path, turn);
    return turn ? parted(rows) : { rows };
  }, [path, turn]);
  const [drawn, setDrawn] = useState(firstRows); // at most so many of the newest; infinite once all were
  const rows = useMemo(() => (drawn < all.length ? all.slice(-drawn) : all), [all, drawn]);
  const whole = drawn === Number.POSITIVE_INFINITY;
  const any = rows.length > 0;
  useEffect(() => {
    if (!any || whole) return;
    const next = drawn < all.length ? drawn + firstRows : Number.POSITIVE_INFINITY;
    const frame = requestAnimationFrame(() => setDrawn(next));
    return () => cancelAnimationFrame(frame);
  }, [any, whole, drawn, all.length]);
  const box = useRef<HTMLElement>(null);
  const pinned = useRef(true);
  const [away, setAway] = useState<string>(); // the last row when the end was left
  const { clientId } = useHost();

  const top = useRef(0); // where it was scrolled to last
  const size = useRef(0); // how high what is shown was then
  const moved = useRef(Number.NEGATIVE_INFINITY); // when somebody used what scrolls
  const use = () => {
    moved.current = performance.now();
  };
  const follow = useCallback(() => {
    const el = box.current;
    if (!el || !pinned.current) return;
    el.scrollTop = el.scrollHeight;
    top.current = el.scrollTop; // also when what is shown has become shorter
    size.current = el.scrollHeight;
  }, []);
  useEffect(() => {
    // Rows have their real size only once they are drawn, and grow when they are unfolded; what is
    // seen of them shrinks when a question or a keyboard comes up.
    const el = box.current;
    const flow = el?.querySelector(".flow");
    if (!flow) return;
    const grown = new ResizeObserver(follow);
    grown.observe(flow);
    grown.observe(el as HTMLElement);
    return () => grown.disconnect();
  }, [follow]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows are what is followed
  useLayoutEffect(follow, [rows, follow]);
  // Who sends something wants to see it.
  const own = useMemo(
    () => newestOf(path, (e) => e.type === "message" && e.message.role === "user" && e.cause?.clientId === clientId)?.id,
    [path, clientId],
  );
  const ownBefore = useRef(own);
  useLayoutEffect(() => {
    if (own === ownBefore.current) return;
    const known = ownBefore.current === undefined || path.some((e) => e.id === ownBefore.current);
    ownBefore.current = own;
    if (!own || !known) return; // another branch, or the first look
    pinned.current = true;
    setAway(undefined);
    follow();
  }, [own, path, follow]);
  const asked = useRef(0); // how many events were held when older ones were asked for
  const scrolled = () => {
    const el = box.current;
    if (!el) return;
    const upwards = el.scrollTop < top.current;
    // Who scrolls up leaves the end. Otherwise it is the end that has gone further, and is followed:
    // what shrank and grew again within a frame has the same size for the observer.
    if (el.scrollHeight - el.scrollTop - el.clientHeight < nearEnd) pinned.current = true;
    // So does what goes at the beginning while something comes at the end: the browser scrolls then.
    else if (upwards && (size.current === el.scrollHeight || performance.now() - moved.current < usedFor)) pinned.current = false;
    else follow();
    setAway((a) => (pinned.current ? undefined : (a ?? rows.at(-1)?.key ?? "")));
    top.current = el.scrollTop;
    size.current = el.scrollHeight;
    if (!upwards || pinned.current || el.scrollTop >= nearBegin || (whole && (!more || full))) return;
    if (el.scrollTop === 0) el.scrollTop = 1; // at 0 a browser does not keep the place when something comes above
    if (!whole || asked.current === path.length) return;
    asked.current = path.length;
    session.older(olderPart);
  };
  const newest = useRef("");
  newest.current = rows.at(-1)?.key ?? "";
  /** Somebody unfolds a long message to read it: the end is left, unless it is still seen then. */
  const unfolding = useCallback(() => {
    pinned.current = false;
    requestAnimationFrame(() => {
      const el = box.current;
      if (!el) return;
      pinned.current = el.scrollHeight - el.scrollTop - el.clientHeight < nearEnd;
      setAway((a) => (pinned.current ? undefined : (a ?? newest.current)));
    });
  }, []);
  const used = (e: React.KeyboardEvent<HTMLElement>) => {
    use();
    roam(e);
  };
  const news = away === undefined ? 0 : rows.length - 1 - rows.findIndex((r) => r.key === away);
  const sought = useRef<EventID>(undefined); // what was found, or is not here
  // biome-ignore lint/correctness/useExhaustiveDependencies: it may come with other rows
  useEffect(() => {
    if (!event || sought.current === event || !whole) return;
    const el =
      document.getElementById(`e-${event}`) ?? box.current?.querySelector(`[data-events~="${CSS.escape(event)}"]`)?.closest(".bar");
    if (el) {
      pinned.current = false;
      el.scrollIntoView({ block: "center" });
      el.classList.add("found");
    } else if (more && !full) return session.older(500);
    else tell(w.notHere);
    sought.current = event;
  }, [event, rows, whole]);
  const before = useRef(running);
  useEffect(() => {
    if (before.current && !running) announce(w.ended);
    before.current = running;
  }, [running, w]);

  return (
    <section
      ref={box}
      className="scroll"
      aria-label={w.conversation}
      onScroll={scrolled}
      onWheel={use}
      onTouchMove={use}
      onPointerDown={use}
      onKeyDown={used}
    >
      <TurnHead box={box} rows={rows} />
      <div className="flow">
        {more && full && <p className="marker">{w.olderElsewhere}</p>}
        {more && !full && (
          <Button look="plain" small onClick={() => session.older(200)}>
            {w.older}
          </Button>
        )}
        {rows.length === 0 && !running && <p className="empty">{w.empty}</p>}
        <Unfolding value={unfolding}>
          <Rows rows={rows} />
        </Unfolding>
        <Running start={lastSaid(rows)} open={open} onDraw={follow} />
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
          {news > 0 && news < rows.length ? w.newRows(news) : w.toEnd}
        </Button>
      )}
    </section>
  );
}

/** When the newest message of a person came, 0 without one. */
function lastSaid(rows: readonly Row[]): number {
  const said = newestOf(rows, (r) => r.kind === "said");
  return said?.kind === "said" ? said.at : 0;
}

/** Up and down go from step to step. */
function roam(e: React.KeyboardEvent<HTMLElement>): void {
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  if (!(e.target instanceof HTMLElement) || !e.target.matches(".line, .think, .unfold")) return;
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>(".line, .think, .unfold")];
  const next = all[all.indexOf(e.target) + (e.key === "ArrowDown" ? 1 : -1)];
  if (!next) return;
  e.preventDefault();
  next.focus();
}

/** The turns of rows, by the row that begins each: from its message to what came last. */
function turnsOf(rows: readonly Row[]): Map<Row, Span> {
  const turns = new Map<Row, Span>();
  let turn: Span | undefined;
  for (const r of rows) {
    if (!("at" in r)) continue;
    if (r.kind === "said" || !turn) {
      turn = { from: r.kind === "step" ? r.end - r.duration : r.at, to: r.at };
      turns.set(r, turn);
    }
    turn.to = Math.max(turn.to, r.kind === "step" ? r.end : r.at);
  }
  return turns;
}

const Rows = memo(function Rows({ rows }: { rows: readonly Row[] }) {
  const out: ReactNode[] = [];
  const turns = turnsOf(rows);
  let turn: Span = { from: 0, to: 0 };
  let start = 0; // of the turn, where a message began it
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    if (!r) continue;
    turn = turns.get(r) ?? turn;
    if (r.kind === "said") start = r.at;
    const steps: Row[] = [];
    while (rows[i + steps.length]?.kind === "step") steps.push(rows[i + steps.length] as Row);
    if (steps.length > 0) {
      i += steps.length - 1;
      out.push(
        <Bar key={r.key} at={at(r, start)}>
          <div className="steps" data-events={steps.map((s) => (s.kind === "step" ? `${s.event} ${s.result ?? ""}` : "")).join(" ")}>
            {steps.map((s) => s.kind === "step" && <StepRow key={s.key} step={s} turn={turn} />)}
          </div>
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

/** A row. Of steps only those that run come here, with their turn. */
const RowView = memo(function RowView({ row, start, turn }: { row: Row; start: number; turn?: Span }) {
  const w = useWords(conversationWords);
  switch (row.kind) {
    case "said":
      return (
        <Bar at={at(row, start)} id={`e-${row.event}`}>
          <div className="said" title={fullTime(row.at)}>
            {row.whole ? (
              <Whole blob={row.whole} as="plain">
                <Folded text={safeText(row.text)} />
              </Whole>
            ) : (
              <Folded text={safeText(row.text)} />
            )}
            <SaidMenu row={row} />
            {row.attached.map((f, i) => (
              <details className="attached" key={`${i} ${f.path}`}>
                <summary>
                  {literalText(f.path)} <span className="t3">{w.lines(f.lines)}</span>
                </summary>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
                <pre tabIndex={0}>{safeText(f.text)}</pre>
              </details>
            ))}
            {row.pictures.length > 0 && (
              <div className="thumbs">
                {row.pictures.map((p) => (
                  <Picture key={p.blob} blob={p.blob} mediaType={p.mediaType} />
                ))}
              </div>
            )}
            {(row.from !== "" || row.files.length > 0) && (
              <p className="by">{[w.from(row.from), ...row.files].filter(Boolean).join(" · ")}</p>
            )}
          </div>
        </Bar>
      );
    case "prose":
      return (
        <Bar at={at(row, start)} {...(row.first ? { id: `e-${row.event}` } : {})}>
          <div className="answer" data-events={row.also?.join(" ")}>
            {row.whole ? (
              <Whole blob={row.whole} as="markdown">
                <Markdown text={row.text} />
              </Whole>
            ) : (
              <Markdown text={row.text} streaming={row.growing} />
            )}
            {!row.growing && <AnswerMenu row={row} />}
          </div>
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
            <StepRow step={row} turn={turn ?? { from: row.at, to: row.end }} />
          </div>
        </Bar>
      );
    case "marker":
      return <Marker text={row.text} body={row.body} />;
    case "cut":
      return (
        <Bar at="">
          <p className="errline cut">{w.cut(row.why)}</p>
        </Bar>
      );
    case "failed":
      return (
        <Bar at="">
          <p className="errline" role="alert">
            {row.text}
          </p>
        </Bar>
      );
  }
});

function Thinking({ row }: { row: Extract<Row, { kind: "thinking" }> }) {
  const w = useWords(conversationWords);
  const [open, setOpen] = useState(false);
  const text = useMemo(() => safeText(row.text), [row.text]);
  const first = text.trim().split("\n")[0] ?? "";
  return (
    <>
      <button type="button" className="think" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon of={open ? ChevronDown : ChevronRight} small />
        <span className="trunc">{row.growing ? w.thinking : w.thought(first.slice(0, 200))}</span>
      </button>
      {open && (
        <div className="thoughts">
          {row.whole ? (
            <Whole blob={row.whole} as="plain">
              {text}
            </Whole>
          ) : (
            text
          )}
        </div>
      )}
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

/** What is coming in, with the answer that it goes on with: it alone is drawn again with each piece. */
function Running({ start, open, onDraw }: { start: number; open: Prose | undefined; onDraw(): void }) {
  useVersion();
  const { live, path } = useSession().projection;
  const newest = path.at(-1);
  const said = newest?.type === "message" && newest.message.role === "assistant" ? newest.message.errorMessage : undefined; // why the turn has failed stands above
  const began = useRef(Date.now());
  const seen = useRef(new Map<string, number>()); // calls that run: when they were seen first
  if (!live.tools?.length) seen.current.clear();
  useLayoutEffect(onDraw);
  const coming = liveRows(live.messages, live.tools, began.current, (call) => {
    const at = seen.current.get(call) ?? Date.now();
    seen.current.set(call, at);
    return at;
  });
  const rows = open ? joined([open, ...coming]) : coming;
  const turn = { from: Math.min(start || Date.now(), Date.now()), to: Date.now() };
  return (
    <>
      {rows.map((r) => (
        <RowView key={r.key} row={r} start={0} turn={turn} />
      ))}
      {live.retry && <Retry key={`${live.turnId} ${live.turnIndex} ${live.retry.attempt}`} of={live.retry} />}
      {!live.running && live.ended?.error && live.ended.error.message !== said && (
        <Bar at="">
          <p className="errline" role="alert">
            {live.ended.error.message}
          </p>
        </Bar>
      )}
    </>
  );
}
