import { ChevronRight, Square, SquareTerminal, Waypoints } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { cleanText } from "../../display/index";
import type { LiveTool, TaskInfo } from "../../protocol/index";
import { tools } from "../../protocol/index";
import { useAction, useAnswer, useClient, useLive, useMay, useSession } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { hrefOf } from "../route";
import { bytes, duration, short } from "../words/format";
import { useWords } from "../words/index";
import { Answered, Pane, useNow, useOnChange } from "./pane";
import { panelWords } from "./words";

/** How often the output of a running command is asked for again, in ms. */
const outputEvery = 1000;
/** The lines of output that are drawn; the host sends at most 64 KiB. */
const maxLines = 500;

const none: readonly never[] = [];

/** Commands and sub-agents that work beside the conversation, with their newest output. */
export function BackgroundPane() {
  const w = useWords(panelWords);
  const tasks: readonly TaskInfo[] = useLive((l) => l.tasks) ?? none;
  const calls: readonly LiveTool[] = useLive((l) => l.tools) ?? none;
  const agents = calls.filter((t) => tools[t.toolName]?.view === "agent");
  const running = tasks.filter((t) => t.state === "running").length + agents.length;
  const now = useNow(1000, running > 0);
  const newestFirst = [...tasks].reverse();
  return (
    <Pane title={w.background} value={running > 0 ? String(running) : undefined}>
      {tasks.length + agents.length === 0 && <p className="quiet">{w.noTasks}</p>}
      <ul className="bg">
        {agents.map((t) => (
          <AgentCall key={t.eventId + t.toolCallId} tool={t} />
        ))}
        {newestFirst.map((t) => (
          <Task key={t.taskId} task={t} now={now} />
        ))}
      </ul>
    </Pane>
  );
}

/** A sub-agent that the conversation waits for. */
function AgentCall({ tool }: { tool: LiveTool }) {
  const w = useWords(panelWords);
  const args = tool.args as { description?: unknown; agent?: unknown } | undefined;
  const name = typeof args?.description === "string" ? args.description : tool.toolName;
  const at = tool.process?.at(-1)?.event.message ?? "";
  return (
    <li>
      <Icon of={Waypoints} />
      <span className="trunc" title={at}>
        {name}
      </span>
      <span className="when">{w.running}</span>
    </li>
  );
}

function stateOf(w: (typeof panelWords)["en"], t: TaskInfo, now: number): string {
  switch (t.state) {
    case "running":
      return duration(now - t.startedAt);
    case "exited":
      return t.exitCode ? w.failed(t.exitCode) : w.exited("");
    case "stopped":
      return w.stopped;
    case "timed_out":
      return w.timedOut;
    case "lost":
      return w.lost;
  }
}

function Task({ task, now }: { task: TaskInfo; now: number }) {
  const w = useWords(panelWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const [open, setOpen] = useState(false);
  const id = useId();
  const stop = useAction(() => client.call("stop_task", { taskId: task.taskId }, { sessionId }));
  const name = task.command || task.agent || task.taskId;
  const bad = task.state === "lost" || task.state === "timed_out" || (task.state === "exited" && (task.exitCode ?? 0) !== 0);
  return (
    <li>
      <Icon of={task.sessionId ? Waypoints : SquareTerminal} />
      <button type="button" className="taskname" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <span className={task.sessionId ? "trunc" : "mono trunc"}>{name}</span>
        <Icon of={ChevronRight} small className={open ? "turned" : ""} />
      </button>
      <span className={bad ? "when err" : "when"}>{stateOf(w, task, now)}</span>
      <div id={id} className="taskmore" hidden={!open}>
        {open && (
          <>
            {task.sessionId ? (
              <p className="acts">
                {task.lastLine && <span className="grow quiet">{task.lastLine}</span>}
                {(task.tokens ?? 0) > 0 && <span className="t3">{w.tokensSoFar(short(task.tokens ?? 0))}</span>}
                <a href={hrefOf({ at: "session", id: task.sessionId })}>{w.openSession}</a>
              </p>
            ) : (
              <Output task={task} name={name} />
            )}
            {task.state === "running" && may && (
              <p className="acts">
                <Button small onClick={() => void stop.run()} disabled={stop.busy} aria-label={w.stopTask(name)}>
                  <Icon of={Square} small />
                  {w.stop}
                </Button>
              </p>
            )}
            <ErrorLine error={stop.error} />
          </>
        )}
      </div>
    </li>
  );
}

/** The newest output; it stays at its end unless somebody has scrolled up. */
function Output({ task, name }: { task: TaskInfo; name: string }) {
  const w = useWords(panelWords);
  const { sessionId } = useSession();
  const answer = useAnswer("get_task_output", { taskId: task.taskId }, { sessionId });
  const running = task.state === "running";
  // The host tells of a task when its state changes, so output is asked for as long as it runs.
  const tick = useNow(outputEvery, running);
  useOnChange(`${running} ${tick}`, outputEvery, answer.reload);
  const box = useRef<HTMLPreElement>(null);
  const follow = useRef(true);
  const text = answer.data?.text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what is followed
  useEffect(() => {
    const b = box.current;
    if (b && follow.current) b.scrollTop = b.scrollHeight;
  }, [text]);
  return (
    <Answered of={answer}>
      {(o) => {
        const lines = cleanText(o.text).replace(/\n$/, "").split("\n");
        return (
          <>
            {(o.omitted ?? 0) > 0 && <p className="quiet">{w.omitted(bytes(o.omitted ?? 0))}</p>}
            {o.text === "" ? (
              <p className="quiet">{w.noOutput}</p>
            ) : (
              <pre
                ref={box}
                className="term output"
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
                tabIndex={0}
                role="region"
                aria-label={w.outputOf(name)}
                onScroll={(e) => {
                  const b = e.currentTarget;
                  follow.current = b.scrollHeight - b.scrollTop - b.clientHeight < 24;
                }}
              >
                {lines.slice(-maxLines).join("\n")}
              </pre>
            )}
          </>
        );
      }}
    </Answered>
  );
}
