import type { ReactNode } from "react";
import { useAction, useClient, useLive, useSession } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { questionsWords } from "./words";
import "./questions.css";

/** What the session asks, in the place of the composer; without a question, the composer. */
export function Questions({ children }: { children: ReactNode }) {
  const w = useWords(questionsWords);
  const client = useClient();
  const { sessionId } = useSession();
  const asked = useLive((l) => l.permissions?.[0]);
  const answer = useAction(async (choice: number) => {
    if (asked) await client.call("answer_permission", { permissionId: asked.permissionId, choice }, { sessionId });
  });
  if (!asked) return children;
  return (
    <div className="sheet" role="group" aria-label={w.asks(asked.toolName)}>
      <div className="top">
        <span className="lampdot" />
        <h2>{w.asks(asked.toolName)}</h2>
      </div>
      <ErrorLine error={answer.error} />
      <div className="tools">
        <Button look="lamp" onClick={() => void answer.run(0)} disabled={answer.busy}>
          {w.allow}
        </Button>
        <Button no onClick={() => void answer.run(-1)} disabled={answer.busy}>
          {w.deny}
        </Button>
      </div>
    </div>
  );
}
