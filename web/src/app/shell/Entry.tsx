import type { Entrance } from "../host/connect";
import { Mark } from "../parts/Mark";
import { useWords } from "../words/index";
import { shellWords } from "./words";
import "./shell.css";

/** What is shown before this browser is in: why it is not, and what to do. */
export function Entry({ entrance }: { entrance: Exclude<Entrance, { state: "in" }> }) {
  const w = useWords(shellWords);
  return (
    <main className="first">
      <div className="hello">
        <Mark />
        {entrance.state === "starting" && <p className="lead">{w.starting}</p>}
        {entrance.state === "pairing" && <p className="lead">{w.pairing}</p>}
        {entrance.state === "pending" && (
          <>
            <h1>{w.pending}</h1>
            <p className="lead" role="status">
              {w.pendingAbout}
            </p>
            <pre>scorel clients</pre>
          </>
        )}
        {entrance.state === "unknown" && (
          <>
            <h1>{w.notKnown}</h1>
            <p className="lead">{w.notKnownAbout}</p>
            <pre>scorel web</pre>
            {entrance.why && <p className="lead">{entrance.why}</p>}
          </>
        )}
        {entrance.state === "failed" && (
          <>
            <h1>{w.failed}</h1>
            <p className="lead">{entrance.why || w.noCrypto}</p>
          </>
        )}
      </div>
    </main>
  );
}
