/**
 * Makes the state of a session of its events: the twin of protocol/fold, held equal by
 * testdata/fold.json. A state is changed in place, and text is appended to; a list whose members
 * change is replaced.
 */
import {
  eventSpecs,
  type Label,
  type Live,
  type LiveBlock,
  type LiveQueue,
  type LiveTool,
  type Message,
  type MetaChanges,
  type PersistentEvent,
  type ProcessEvent,
  type SessionEvent,
  type TaskInfo,
  type Todo,
  type ToolProcess,
  type ToolProcessEvent,
  tools,
  type TransientEvent,
  type UIStateEvent,
  type Usage,
} from "../protocol/index";
import { byteLength, tail } from "./bytes";

/** Bytes of the output of a running tool that a state keeps. */
const maxOutputTail = 16 << 10;
/** Operations of a running call that a state keeps, and the bytes of their texts. At least one stays. */
const maxProcesses = 16;
const maxProcessBytes = 64 << 10;
/** Background commands that a state holds; the oldest that has ended goes first. */
const maxLiveTasks = 32;
/** Labels that a state holds, and the bytes of one; others are not shown. */
const maxLabels = 1000;
const maxLabel = 200;
/** States of extensions that a state holds; further ones are not shown. */
const maxUIStates = 64;
/** Blocks of a running message. */
const maxBlocks = 1000;

/** The state of a session of which nothing is known. */
export function emptyLive(): Live {
  return {
    deviceId: "" as Live["deviceId"],
    streamEpoch: "" as Live["streamEpoch"],
    throughSeq: 0,
    persistentLastSeq: 0,
    meta: {} as Live["meta"],
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    running: false,
  };
}

export function isTransient(e: SessionEvent): e is TransientEvent {
  return !("id" in e) || !e.id;
}

/** Whether an event hangs on its parent and can be the leaf. */
export function isConversation(e: SessionEvent): boolean {
  return !isTransient(e) && !("control" in e && e.control);
}

/** The leaf that a control event moves to, "" for the empty conversation; undefined when it moves to none. */
export function movedLeaf(e: SessionEvent): string | undefined {
  if (e.type === "rewind") return e.targetEventId ?? "";
  return e.type === "branch" ? e.leafEventId : undefined;
}

/** Folds one event into the state. One that is not newer than throughSeq changes nothing. */
export function applyEvent(l: Live, e: SessionEvent): void {
  if (e.seq <= l.throughSeq) return;
  l.throughSeq = e.seq;
  if (isTransient(e)) applyTransient(l, e);
  else applyPersistent(l, e);
}

/** Drops what was running before a new epoch, or while the client could not see it. */
export function voidRunning(l: Live): void {
  l.running = false;
  drop(l, "turnId", "turnIndex", "messages", "tools", "permissions", "ui", "retry");
  l.throughSeq = l.persistentLastSeq;
}

function applyPersistent(l: Live, e: PersistentEvent): void {
  const leaf = isConversation(e) ? e.id : movedLeaf(e);
  if (leaf === "") drop(l, "leafId");
  else if (leaf !== undefined) l.leafId = leaf as NonNullable<Live["leafId"]>;
  addUsage(l.usage, e);
  l.persistentLastSeq = e.seq;
  l.persistentLastId = e.id;
  keep(l, "messages", (m) => m.eventId !== e.id);
  keep(l, "tools", (t) => t.eventId !== e.id);
  switch (e.type) {
    case "message": {
      const item = "meta" in e.message ? e.message.meta?.queueItemId : undefined;
      if (item) takeItem(l, item);
      const todos = todosOf(e.message);
      if (todos) setList(l, "todos", todos);
      break;
    }
    case "session_info":
      applyMeta(l, e.changes);
      if (e.mode) l.mode = e.mode;
      break;
    case "queue_update": {
      const queues = (l.queues ?? []).filter((q) => q.queue !== e.queue);
      const q: LiveQueue = { queue: e.queue, items: e.items, updateId: e.id };
      if (e.paused) q.paused = true;
      if ((e.items?.length ?? 0) > 0 || e.paused) queues.push(q);
      setList(l, "queues", queues);
      break;
    }
    case "label":
      applyLabel(l, e);
  }
}

function applyMeta(l: Live, changes: MetaChanges | undefined): void {
  const meta: Record<string, unknown> = { ...l.meta };
  for (const name of ["workDir", "name", "model", "thinkingLevel"] as const) {
    const value = changes?.[name];
    if (value === "") delete meta[name];
    else if (value !== undefined && value !== null) meta[name] = value;
  }
  l.meta = meta as unknown as Live["meta"];
}

function applyLabel(l: Live, b: Label): void {
  const labels = (l.labels ?? []).filter((o) => o.targetEventId !== b.targetEventId);
  if (b.label !== null && b.label !== undefined && byteLength(b.label) <= maxLabel && labels.length < maxLabels) {
    labels.push({ targetEventId: b.targetEventId, label: b.label });
  }
  setList(l, "labels", labels);
}

/** Removes an item that a message has taken. */
function takeItem(l: Live, id: string): void {
  const queues = (l.queues ?? []).map((q) =>
    q.items?.some((it) => it.id === id) ? { ...q, items: q.items.filter((it) => it.id !== id) } : q,
  );
  setList(
    l,
    "queues",
    queues.filter((q) => (q.items?.length ?? 0) > 0 || q.paused),
  );
}

/** The todo list that a result tells, empty when all of it is done; undefined for a message that tells none. */
export function todosOf(m: Message): Todo[] | undefined {
  if (m.role !== "tool_result" || m.isError || tools[m.toolName ?? ""]?.tells !== "todos") return undefined;
  const details = m.details as { todos?: Todo[] | null } | null | undefined;
  if (typeof details !== "object" || details === null || !Array.isArray(details.todos ?? [])) return undefined;
  return openTodos(details.todos ?? []);
}

function openTodos(todos: Todo[]): Todo[] {
  return todos.some((t) => t.status !== "completed") ? todos : [];
}

function addUsage(total: Usage, e: PersistentEvent): void {
  const path = eventSpecs[e.type]?.usage;
  if (!path) return;
  let at: unknown = e;
  for (const name of path.split(".")) at = (at as Record<string, unknown> | undefined)?.[name];
  const u = at as Usage | null | undefined;
  if (!u) return;
  total.inputTokens += u.inputTokens;
  total.outputTokens += u.outputTokens;
  total.cacheReadTokens += u.cacheReadTokens;
  total.cacheWriteTokens += u.cacheWriteTokens;
  if (u.reasoningTokens) total.reasoningTokens = (total.reasoningTokens ?? 0) + u.reasoningTokens;
  if (u.costUSD) total.costUSD = (total.costUSD ?? 0) + u.costUSD;
}

function applyTransient(l: Live, e: TransientEvent): void {
  switch (e.type) {
    case "runtime_start":
      l.running = true;
      setTurn(l, e);
      drop(l, "ended", "command");
      l.runningSince = e.ts;
      if (e.command) l.command = e.command;
      break;
    case "turn_start":
      setTurn(l, e);
      if (e.turnIndex) l.turnIndex = e.turnIndex;
      else drop(l, "turnIndex");
      break;
    case "runtime_end": {
      const shells = (l.tools ?? []).filter((t) => t.shell);
      l.running = false;
      drop(l, "turnId", "turnIndex", "runningSince", "command", "messages", "permissions", "ui", "retry");
      if (e.turnId) l.ended = { turnId: e.turnId, ...body(e) }; // without, something was lost while no turn ran: the newest one has ended as it has
      setList(l, "tools", shells); // commands of people belong to no run
      break;
    }
    case "message_start": {
      drop(l, "retry");
      const m: NonNullable<Live["messages"]>[number] = { eventId: e.eventId, role: e.role };
      if (e.parentId) m.parentId = e.parentId;
      if (e.model) m.model = e.model;
      l.messages = [...(l.messages ?? []), m];
      break;
    }
    case "text_delta":
      append(l, e.eventId, e.blockIndex, "text", e.delta);
      break;
    case "thinking_delta":
      append(l, e.eventId, e.blockIndex, "thinking", e.delta);
      break;
    case "tool_call_delta": {
      const b = append(l, e.eventId, e.blockIndex, "tool_use", e.delta);
      if (b && e.toolName) {
        b.id = e.toolCallId;
        b.name = e.toolName;
      }
      break;
    }
    case "message_cancelled":
      keep(l, "messages", (m) => m.eventId !== e.eventId);
      keep(l, "tools", (t) => !(t.shell && t.eventId === e.eventId));
      break;
    case "tool_execution_start": {
      const t: LiveTool = { eventId: e.eventId, toolCallId: e.toolCallId, toolName: e.toolName };
      if (e.args !== undefined) t.args = e.args;
      if (e.shell) t.shell = e.shell;
      if (e.agentColor) t.agentColor = e.agentColor;
      l.tools = [...(l.tools ?? []), t];
      break;
    }
    case "tool_execution_update":
      for (const t of l.tools ?? []) {
        if (t.eventId === e.eventId) t.outputTail = tail((t.outputTail ?? "") + e.partial, maxOutputTail);
      }
      break;
    case "tool_process_event":
      for (const t of l.tools ?? []) {
        if (e.toolCallId && t.toolCallId === e.toolCallId) applyProcess(t, e);
      }
      break;
    case "task_update":
      applyTask(l, e.task);
      break;
    case "todos":
      setList(l, "todos", openTodos(e.todos ?? []));
      break;
    case "retry":
      l.retry = body(e);
      break;
    default:
      applyQuestion(l, e);
  }
}

/** Folds in what people are asked, and what extensions show. */
function applyQuestion(l: Live, e: TransientEvent): void {
  switch (e.type) {
    case "permission_request":
      l.permissions = [...(l.permissions ?? []), body(e)];
      break;
    case "permission_resolved":
      keep(l, "permissions", (p) => p.permissionId !== e.permissionId);
      break;
    case "ui_request": {
      const known = l.ui?.some((u) => u.uiId === e.uiId); // another client has its component
      l.ui = known ? (l.ui ?? []).map((u) => (u.uiId === e.uiId ? body(e) : u)) : [...(l.ui ?? []), body(e)];
      break;
    }
    case "ui_resolved":
      keep(l, "ui", (u) => u.uiId !== e.uiId);
      break;
    case "ui_state":
      showUI(l, e);
  }
}

function setTurn(l: Live, e: TransientEvent): void {
  if (e.turnId) l.turnId = e.turnId;
  else drop(l, "turnId");
}

/** Appends to a block of a running message; undefined when there is none. */
function append(l: Live, id: string, index: number, type: LiveBlock["type"], delta: string): LiveBlock | undefined {
  const m = l.messages?.find((o) => o.eventId === id);
  if (!m || index < 0) return undefined;
  m.blocks ??= [];
  while (m.blocks.length <= index && index < maxBlocks) m.blocks.push({ type, text: "" });
  const b = m.blocks[index];
  if (b) b.text += delta;
  return b;
}

function applyTask(l: Live, task: TaskInfo): void {
  const known = l.tasks?.some((o) => o.taskId === task.taskId);
  const list = known ? (l.tasks ?? []).map((o) => (o.taskId === task.taskId ? task : o)) : [...(l.tasks ?? []), task];
  if (list.length > maxLiveTasks)
    list.splice(
      Math.max(
        0,
        list.findIndex((o) => o.state !== "running"),
      ),
      1,
    );
  l.tasks = list;
}

function showUI(l: Live, e: UIStateEvent): void {
  const states = l.uiStates ?? [];
  const at = states.findIndex((s) => s.source === e.source && s.key === e.key);
  if ((e.lines?.length ?? 0) === 0)
    setList(
      l,
      "uiStates",
      states.filter((_, i) => i !== at),
    );
  else if (at >= 0) l.uiStates = states.map((s, i) => (i === at ? body(e) : s));
  else if (states.length < maxUIStates) l.uiStates = [...states, body(e)];
}

function applyProcess(t: LiveTool, e: ToolProcessEvent): void {
  const list: ToolProcess[] = (t.process ?? []).filter((p) => p.event.operationId !== e.event.operationId);
  list.push(body(e));
  let from = list.length - 1;
  let bytes = processSize(e.event);
  while (from > 0 && list.length - from < maxProcesses) {
    bytes += processSize((list[from - 1] as ToolProcess).event);
    if (bytes > maxProcessBytes) break;
    from--;
  }
  t.process = list.slice(from);
}

function processSize(e: ProcessEvent): number {
  const payload = e.payload === undefined ? 0 : byteLength(JSON.stringify(e.payload) ?? "");
  return byteLength(e.message) + byteLength(e.detail ?? "") + payload;
}

type Envelope = "type" | "seq" | "sessionId" | "clientId" | "ts" | "turnId";

/** A transient event without what every event has. */
function body<E extends TransientEvent>(e: E): Omit<E, Envelope> {
  const { type: _t, seq: _s, sessionId: _i, clientId: _c, ts: _n, turnId: _u, ...rest } = e;
  return rest as Omit<E, Envelope>;
}

type Optional = { [K in keyof Live]-?: undefined extends Live[K] ? K : never }[keyof Live];
type Lists = { [K in Optional]: NonNullable<Live[K]> extends readonly unknown[] ? K : never }[Optional];

function drop(l: Live, ...names: Optional[]): void {
  for (const name of names) delete l[name];
}

function setList<K extends Lists>(l: Live, name: K, list: NonNullable<Live[K]>): void {
  if (list.length === 0) delete l[name];
  else l[name] = list;
}

function keep<K extends Lists>(l: Live, name: K, wanted: (item: NonNullable<Live[K]>[number]) => boolean): void {
  const list = l[name] as NonNullable<Live[K]>[number][] | undefined;
  if (list && !list.every(wanted)) setList(l, name, list.filter(wanted) as NonNullable<Live[K]>);
}
