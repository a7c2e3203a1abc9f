import { useEffect, useRef, useState } from "react";
import type { Client } from "../../client/index";
import type { Entry, Pairing, PairingOutcome, WebOpened } from "../../protocol/index";
import { useAction, useClient } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { announce } from "../parts/tell";
import { useWords } from "../words/index";
import { clientsWords } from "./clientwords";
import { qrCode } from "./qr";
import { Waiting } from "./Waiting";
import { pageWords } from "./words";

/** White around a code, which readers need, in modules. */
const quiet = 4;

interface Code {
  pairing: Pairing;
  opened: WebOpened;
  address: string;
}

/**
 * Lets another browser in: opens the host to it, makes a code, and waits until somebody has come.
 * The code is secret: it is in the state of this dialog alone, and counts no longer once it is closed.
 */
export default function Invite({ lan, onClose }: { lan: boolean; onClose(): void }) {
  const w = useWords(clientsWords);
  const page = useWords(pageWords);
  const client = useClient();
  const [code, setCode] = useState<Code>();
  const [end, setEnd] = useState<{ outcome: PairingOutcome; name: string; entry: Entry | undefined }>();
  const make = useAction(async () => {
    setEnd(undefined);
    setCode(undefined);
    const opened = await client.call("open_web", { lan });
    const first = opened.addresses?.[0];
    if (!first) throw new Error(w.noAddress);
    const pairing = await client.call("create_pairing", { lan });
    setCode({ pairing, opened, address: `${first}/#pair=${pairing.code}` });
  });
  useWait(client, code?.pairing, (outcome, entry) => {
    const name = entry?.label ?? "";
    setCode(undefined);
    setEnd({ outcome, name, entry });
    announce(outcome === "redeemed" ? w.came(name) : w[outcome]);
  });
  return (
    <Dialog open onClose={onClose} title={lan ? w.inviteTitle : w.inviteHereTitle} about={lan ? w.inviteAbout : w.inviteHereAbout}>
      {code && <Shown code={code} lan={lan} />}
      {end && (
        <p className={end.outcome === "redeemed" ? "ok said" : "warn said"}>
          {end.outcome === "redeemed" ? w.came(end.name) : w[end.outcome]}
        </p>
      )}
      {end?.entry?.pending && (
        <div className="said">
          <p className="t3">{w.waitingAbout}</p>
          <ul className="rows">
            <Waiting entry={end.entry} onDone={onClose} />
          </ul>
        </div>
      )}
      <ErrorLine error={make.error} />
      <div className="acts">
        <Button onClick={onClose}>{page.close}</Button>
        {!code && end?.outcome !== "redeemed" && (
          <Button look="ink" disabled={make.busy} onClick={() => void make.run()}>
            {end ? w.anotherCode : w.makeCode}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** Waits for the end of a code; one that is not shown any more is cancelled. */
function useWait(client: Client, pairing: Pairing | undefined, ended: (outcome: PairingOutcome, entry?: Entry) => void): void {
  const newest = useRef(ended);
  newest.current = ended;
  useEffect(() => {
    if (!pairing) return;
    const { pairingId } = pairing;
    const abort = new AbortController();
    let open = true;
    client.call("await_pairing", { pairingId }, { signal: abort.signal }).then(
      (e) => {
        open = false;
        if (!abort.signal.aborted) newest.current(e.outcome, e.entry);
      },
      () => {
        open = false;
        if (!abort.signal.aborted) newest.current("expired");
      },
    );
    return () => {
      abort.abort();
      if (open) client.call("cancel_pairing", { pairingId }).catch(() => {}); // it ends by itself soon
    };
  }, [client, pairing]);
}

function Shown({ code, lan }: { code: Code; lan: boolean }) {
  const w = useWords(clientsWords);
  const [copied, setCopied] = useState(false);
  const left = useSecondsTo(code.pairing.expiresAt);
  return (
    <>
      {lan && <QR text={code.address} label={w.qr} />}
      {lan && <p className="said">{w.scan}</p>}
      <p className="said">
        <span className="sr">{w.address}</span>
        <code className="mono address">{code.address}</code>
      </p>
      <p className="inline said">
        <Button small onClick={() => void navigator.clipboard.writeText(code.address).then(() => setCopied(true))}>
          {w.copy}
        </Button>
        <span className="t3" role="status">
          {copied && w.copied}
        </span>
      </p>
      <p className="t3 num">{w.counts(left)}</p>
      {code.opened.notice && <p className="warn said">{code.opened.notice}</p>}
      {code.opened.fingerprint && (
        <p className="said">
          {code.opened.ownCertificate && w.own}
          <br />
          <span className="t3">{w.fingerprint}</span> <code className="mono address">{code.opened.fingerprint}</code>
        </p>
      )}
    </>
  );
}

function useSecondsTo(at: number): number {
  const left = () => Math.max(0, Math.ceil((at - Date.now()) / 1000));
  const [n, setN] = useState(left);
  // biome-ignore lint/correctness/useExhaustiveDependencies: left is made of at
  useEffect(() => {
    const timer = setInterval(() => setN(left()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  return n;
}

/** A QR code, black on white in every theme: readers need it so. */
function QR({ text, label }: { text: string; label: string }) {
  const rows = qrCode(text);
  const size = rows.length + 2 * quiet;
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + quiet} ${y + quiet}h1v1h-1z` : ""))).join("");
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect className="light" width={size} height={size} />
      <path className="dark" d={path} />
    </svg>
  );
}
