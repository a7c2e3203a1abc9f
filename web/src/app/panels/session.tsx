import { Check, Circle, CircleDot } from "lucide-react";
import { useHeard } from "../conversation/notices";
import { useLive } from "../host/context";
import { Icon } from "../parts/controls";
import { time } from "../words/format";
import { useWords } from "../words/index";
import { BackgroundPane } from "./Background";
import { Pane } from "./pane";
import { PeoplePane } from "./People";
import { ContextPane, CostPane } from "./SessionUsage";
import { panelWords } from "./words";

/** What the session is at: what fills its context, what it has cost, what is left to do, what runs, who is here. */
export default function SessionPanel() {
  return (
    <div className="panes">
      <div>
        <ContextPane />
        <CostPane />
      </div>
      <div>
        <TodoPane />
        <BackgroundPane />
        <PeoplePane />
        <NoticesPane />
      </div>
    </div>
  );
}

/** What people were told beside the conversation while the page has been open, the newest first. */
function NoticesPane() {
  const w = useWords(panelWords);
  const all = useHeard();
  return (
    <Pane title={w.notices} value={all.length || undefined}>
      {all.length === 0 && <p className="quiet">{w.noNotices}</p>}
      <ul className="heard">
        {[...all].reverse().map((n) => (
          <li key={n.key} className={n.bad ? "bad" : ""}>
            <span className="t3">{time(n.at)}</span> <span>{n.text}</span>
          </li>
        ))}
      </ul>
    </Pane>
  );
}

function TodoPane() {
  const w = useWords(panelWords);
  const todos = useLive((l) => l.todos);
  const done = todos?.filter((t) => t.status === "completed").length ?? 0;
  return (
    <Pane title={w.todo} value={todos?.length ? w.doneOf(done, todos.length) : undefined}>
      {todos?.length ? (
        <ul className="todo flat">
          {todos.map((t, i) => {
            const [look, icon, state] =
              t.status === "completed"
                ? ["x", Check, w.done]
                : t.status === "in_progress"
                  ? ["now", CircleDot, w.doing]
                  : ["", Circle, w.open];
            return (
              <li key={i} className={look as string}>
                <Icon of={icon as typeof Check} />
                <span className="sr">{state as string}</span>
                <span>{t.content}</span>
              </li>
            );
          })}
        </ul>
      ) : (
        <p className="quiet">{w.noTodos}</p>
      )}
    </Pane>
  );
}
