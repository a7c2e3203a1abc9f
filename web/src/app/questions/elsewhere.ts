import { useEffect, useRef } from "react";
import type { ClientID, Decision, Status } from "../../protocol/index";
import { useClient, useHost, useLive, useUpdates } from "../host/context";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { questionsWords } from "./words";

/** Questions that were shown here and whose end has not been told yet; the oldest goes first. */
const maxAsked = 64;

/** Says who has answered a question that was shown here, when it was another client. */
export function useAnsweredElsewhere(): void {
  const w = useWords(questionsWords);
  const client = useClient();
  const { clientId } = useHost();
  const permissions = useLive((l) => l.permissions);
  const dialogs = useLive((l) => l.ui);
  const asked = useRef(new Set<string>());
  useEffect(() => {
    for (const p of permissions ?? []) asked.current.add(p.permissionId);
    for (const d of dialogs ?? []) asked.current.add(d.uiId);
    for (const first of asked.current) if (asked.current.size > maxAsked) asked.current.delete(first);
  }, [permissions, dialogs]);
  const answered = (by: ClientID, decision: Decision | undefined) => {
    if (by === clientId || decision === "cancelled" || decision === "expired") return;
    const sentence = decision === "allow" ? w.allowedBy : decision === "deny" ? w.deniedBy : w.answeredBy;
    client.call("get_status", {}).then(
      (s: Status) => tell(sentence(s.clients?.find((c) => c.clientId === by)?.clientName || w.somebody), { bad: false }),
      () => tell(sentence(w.somebody), { bad: false }),
    );
  };
  useUpdates((u) => {
    for (const e of u.events) {
      if (e.type === "permission_resolved" && asked.current.delete(e.permissionId)) answered(e.clientId, e.decision);
      if (e.type === "ui_resolved" && asked.current.delete(e.uiId)) answered(e.clientId, e.decision);
    }
  });
}
