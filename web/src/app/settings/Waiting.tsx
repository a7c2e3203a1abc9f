import type { Entry } from "../../protocol/index";
import { useAction, useClient } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { time } from "../words/format";
import { useWords } from "../words/index";
import { clientsWords } from "./clientwords";

/** Somebody who has come by a code from the network, and waits: their browser and address, yes or no. */
export function Waiting({ entry: e, onDone }: { entry: Entry; onDone?(): void }) {
  const w = useWords(clientsWords);
  const client = useClient();
  const { clientId } = e;
  const confirm = useAction(() => client.call("confirm_entry", { clientId }));
  const refuse = useAction(() => client.call("revoke_entry", { clientId }));
  return (
    <li>
      <span className="main-of">
        <span className="note wait" /> <b>{e.label}</b> <span className="mono">{w.from(e.address ?? "")}</span>{" "}
        {e.expiresAt && <span className="t3">{w.until(time(e.expiresAt))}</span>}
      </span>
      <span className="acts">
        <Button
          small
          aria-label={`${w.refuse}: ${e.label}`}
          disabled={refuse.busy}
          onClick={() => void refuse.run().then((ok) => ok && onDone?.())}
        >
          {w.refuse}
        </Button>
        <Button
          small
          look="lamp"
          aria-label={`${w.letIn}: ${e.label}`}
          disabled={confirm.busy}
          onClick={() => void confirm.run().then((ok) => ok && onDone?.())}
        >
          {w.letIn}
        </Button>
      </span>
      <ErrorLine error={confirm.error ?? refuse.error} />
    </li>
  );
}
