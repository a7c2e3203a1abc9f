import { useEffect, useRef } from "react";
import type { ClientID, Decision, Status } from "../../protocol/index";
import { useClient, useHost, useLive, useUpdates } from "../host/context";
import { titleOf, toolOf } from "../conversation/rows";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { questionsWords } from "./words";

/** Questions that were shown here and whose end has not been told yet; the oldest goes first. */
const maxAsked = 64;
/** How much of a call's title says what the answer was about, in characters. */
const maxTitle = 80;

/** Says who has answered a question that was shown here, when it was another client. */
export function useAnsweredElsewhere(): void {
  const w = useWords(questionsWords);
  const client = useClient();
  const { clientId } = useHost();
  const permissions = useLive((l) => l.permissions);
  const dialogs = useLive((l) => l.ui);
  const asked = useRef(new Map<string, string>()); // what each is about
  useEffect(() => {
    for (const p of permissions ?? []) {
      const tool = toolOf(p.toolName, p.args);
      const all = [...`${tool.name} ${titleOf(tool.info, tool.input)}`.trim()];
      asked.current.set(p.permissionId, all.length > maxTitle ? `${all.slice(0, maxTitle).join("")}…` : all.join(""));
    }
    for (const d of dialogs ?? []) asked.current.set(d.uiId, "");
    for (const first of asked.current.keys()) if (asked.current.size > maxAsked) asked.current.delete(first);
  }, [permissions, dialogs]);
  const answered = (by: ClientID, decision: Decision | undefined, what: string) => {
    if (by === clientId || decision === "cancelled" || decision === "expired") return;
    const say = decision === "allow" ? w.allowedBy : decision === "deny" ? w.deniedBy : w.answeredBy;
    const sentence = (name: string) => say(name, what);
    client.call("get_status", {}).then(
      (s: Status) => tell(sentence(s.clients?.find((c) => c.clientId === by)?.clientName || w.somebody), { bad: false }),
      () => tell(sentence(w.somebody), { bad: false }),
    );
  };
  useUpdates((u) => {
    for (const e of u.events) {
      if (e.type !== "permission_resolved" && e.type !== "ui_resolved") continue;
      const id = e.type === "permission_resolved" ? e.permissionId : e.uiId;
      const what = asked.current.get(id);
      if (asked.current.delete(id)) answered(e.clientId, e.decision, what ?? "");
    }
  });
}
