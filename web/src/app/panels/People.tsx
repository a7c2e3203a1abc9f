import type { ClientInfo, Grant } from "../../protocol/index";
import { useAnswer, useHost } from "../host/context";
import { useWords } from "../words/index";
import { Answered, Pane } from "./pane";
import { panelWords } from "./words";

/** Two letters of a name. */
function initials(name: string): string {
  const parts = name
    .replace(/['’]s\b/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((p) => p !== "" && p !== "on");
  const [first = "?", second] = parts;
  return (second ? `${[...first][0]}${[...second][0]}` : [...first].slice(0, 2).join("")).toUpperCase();
}

const strongest: Record<Grant, number> = { pending: 0, view: 1, answer: 2, control: 3 };

/** Each client once: the same browser may have several pages. */
export function distinct(clients: readonly ClientInfo[]): ClientInfo[] {
  const by = new Map<string, ClientInfo>();
  for (const c of clients) {
    const seen = by.get(c.clientId);
    if (!seen || strongest[seen.grant] < strongest[c.grant]) by.set(c.clientId, c);
  }
  return [...by.values()].sort((a, b) => a.clientName.localeCompare(b.clientName) || a.clientId.localeCompare(b.clientId));
}

/** Who is connected with the host, and what they may do. */
export function PeoplePane() {
  const w = useWords(panelWords);
  const { clientId } = useHost();
  const answer = useAnswer("get_status", {}, { again: (c) => c.clients.length > 0 });
  return (
    <Pane title={w.hereNow}>
      <Answered of={answer}>
        {(s) => {
          const list = distinct(s.clients ?? []);
          if (list.length === 0) return <p className="quiet">{w.alone}</p>;
          return (
            <ul className="people">
              {list.map((c, i) => (
                <li key={c.clientId}>
                  <span className={`face p${(i % 6) + 1}`} aria-hidden="true">
                    {initials(c.clientName)}
                  </span>
                  <span className="trunc">{c.clientName || c.clientId}</span>
                  <span className="t3">
                    {c.clientId === clientId ? w.thisBrowser : [!c.interactive && w.unattended, w[c.grant]].filter(Boolean).join(", ")}
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </Pane>
  );
}
