import { type ReactNode, useState } from "react";
import type { Status } from "../../protocol/index";
import { useAction, useAnswer, useClient, useHost, useMay } from "../host/context";
import { Button } from "../parts/controls";
import { tell } from "../parts/tell";
import { useNow } from "../places/hooks";
import { hrefOf } from "../route";
import { Answered, Facts, OnlyLooks, Sure } from "../settings/parts";
import { hostWords } from "../settings/words";
import { bytes, duration, fullTime } from "../words/format";
import { useWords } from "../words/index";

/** The host itself: how long it runs, what it has open, who is connected, and its end. */
export default function HostPanel() {
  const w = useWords(hostWords);
  const client = useClient();
  const may = useMay("control");
  const status = useAnswer("get_status", {}, { again: (c) => c.sessions.length > 0 || c.clients.length > 0 || c.stopping !== undefined });
  const [asks, setAsks] = useState<"stop" | "prune">();
  const done = () => setAsks(undefined);
  const stop = useAction(async () => {
    await client.call("stop_host", {});
    tell(w.stopped, { bad: false });
    done();
  });
  const prune = useAction(async () => {
    const got = await client.call("prune_blobs", {});
    tell(w.pruned(got.blobs, bytes(got.bytes)), { bad: false });
    done();
  });
  const running = status.data?.sessions?.filter((s) => s.running).length ?? 0;
  return (
    <>
      <p className="lead">{w.about}</p>
      <OnlyLooks />
      <Answered of={status}>{(s) => <About status={s} />}</Answered>
      {may && status.data && (
        <>
          <p className="t3 said">{w.logs}</p>
          <p className="inline said">
            <Button onClick={() => setAsks("prune")}>{w.prune}</Button>
            <Button no disabled={status.data.stopping ?? false} onClick={() => setAsks("stop")}>
              {w.stop}
            </Button>
          </p>
        </>
      )}
      {asks === "stop" && (
        <Sure
          title={w.stop}
          about={w.stopAbout(running)}
          yes={w.stop}
          busy={stop.busy}
          error={stop.error}
          onYes={() => void stop.run()}
          onClose={done}
        />
      )}
      {asks === "prune" && (
        <Sure
          title={w.prune}
          about={w.pruneAbout}
          yes={w.prune}
          busy={prune.busy}
          error={prune.error}
          onYes={() => void prune.run()}
          onClose={done}
        />
      )}
    </>
  );
}

function About({ status: s }: { status: Status }) {
  const w = useWords(hostWords);
  const own = useHost().clientId;
  const now = useNow();
  const up: ReactNode = (
    <>
      {duration(Math.max(0, now - s.startedAt))} <span className="t3">{w.since(fullTime(s.startedAt))}</span>
    </>
  );
  return (
    <>
      {s.stopping && <p className="banner warn">{w.stopping}</p>}
      <Facts
        of={[
          [w.version, s.version],
          [w.uptime, up],
          [w.process, String(s.pid)],
          [
            w.device,
            <span key="d" className="mono">
              {s.deviceId}
            </span>,
          ],
          [
            w.addresses,
            <span key="a" className="mono">
              {s.addresses?.join(", ") || w.noAddresses}
            </span>,
          ],
        ]}
      />
      <h2 className="h2">
        {w.sessions} <span className="t3 num">{s.sessions?.length ?? 0}</span>
      </h2>
      {(s.sessions ?? []).length === 0 && <p className="t3 said">{w.noSessions}</p>}
      <ul className="rows">
        {s.sessions?.map((o) => (
          <li key={o.sessionId}>
            <span className="main-of">
              <a href={hrefOf({ at: "session", id: o.sessionId })}>{o.title || w.untitled}</a>{" "}
              <span className="t3">{[o.workDir, o.activity].filter(Boolean).join(" · ")}</span>
            </span>
            <span className="t2">
              {[o.asking ? w.asking : o.running ? w.running : w.idle, o.queued && w.queued(o.queued), o.tasks && w.tasks(o.tasks)]
                .filter(Boolean)
                .join(", ")}
            </span>
          </li>
        ))}
      </ul>
      <h2 className="h2">
        {w.clients} <span className="t3 num">{s.clients?.length ?? 0}</span>
      </h2>
      <ul className="rows">
        {s.clients?.map((c) => (
          <li key={c.clientId}>
            <span className="main-of">
              {c.clientName} {c.clientId === own && <span className="t3">({w.here})</span>}
            </span>
            <span className="t2">
              {c.grant}
              {c.interactive && `, ${w.interactive}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
