import { useLive } from "../host/context";
import { useWords, words } from "../words/index";

const sessionWords = words({ todo: "To do" }, { todo: "待办" });

/** What the session is at: its todo list. */
export default function SessionPanel() {
  const w = useWords(sessionWords);
  const todos = useLive((l) => l.todos);
  return (
    <section className="pane">
      <h2>{w.todo}</h2>
      <ul className="todo flat">
        {todos?.map((t) => (
          <li key={t.content} className={t.status === "completed" ? "x" : t.status === "in_progress" ? "now" : ""}>
            {t.content}
          </li>
        ))}
      </ul>
    </section>
  );
}
