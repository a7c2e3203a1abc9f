/**
 * What a person has the host do from the box beside messages: commands, shell lines, notes. Several
 * may be on their way; what cannot be done comes back into the box, or is told.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Client } from "../../client/index";
import { cleanLine, cleanText } from "../../display/index";
import type { CommandResult, Move, SessionID } from "../../protocol/index";
import { sentence, useClient, useSession } from "../host/context";
import { tell } from "../parts/tell";
import { go, parseRoute } from "../route";
import { useWords } from "../words/index";
import { draftOf, keepDraft } from "./drafts";
import { composerWords } from "./words";

/** How long an errand may take before it is shown as running, in milliseconds. */
const patienceMs = 400;
/** Characters of what was typed that are told. */
const maxTold = 80;

/** What a command has printed, for the person alone. */
export interface Printed {
  title: string;
  text: string;
}

/** What becomes of errands, for the box. */
interface Box {
  /** Takes back what could not be done, and why. */
  back(typed: string, error: string): void;
  /** Puts a text into the box. */
  write(text: string): void;
  /** Shows a sentence at the box. */
  say(text: string): void;
}

export interface Errands {
  /** What runs for longer than a moment, as it was typed. */
  going: readonly string[];
  /** How many have no answer yet. */
  waiting: number;
  printed: Printed | undefined;
  close(): void;
  /** Does something that was typed. */
  run(typed: string, act: () => Promise<unknown>, then?: (got: unknown) => void): void;
  /** Shows what a command of the host did. */
  ran(name: string, got: CommandResult): void;
}

export function useErrands(box: Box): Errands {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const [all, setAll] = useState<readonly { id: number; typed: string; long: boolean }[]>([]);
  const [printed, setPrinted] = useState<Printed>();
  const next = useRef(0);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const newest = useRef({ box, w });
  newest.current = { box, w };

  const run = useCallback<Errands["run"]>((typed, act, then) => {
    const id = next.current++;
    setAll((a) => [...a, { id, typed, long: false }]);
    const timer = setTimeout(() => setAll((a) => a.map((e) => (e.id === id ? { ...e, long: true } : e))), patienceMs);
    act()
      .then(then, (e) => {
        if (here.current) newest.current.box.back(typed, sentence(e));
        else tell(newest.current.w.notRun(cut(typed), sentence(e)));
      })
      .finally(() => {
        clearTimeout(timer);
        setAll((a) => a.filter((e) => e.id !== id));
      });
  }, []);

  const ran = useCallback<Errands["ran"]>(
    (name, got) => {
      const { w, box } = newest.current;
      if (got.text) {
        if (here.current) setPrinted({ title: `/${name}`, text: cleanText(got.text) });
        else tell(`/${name}: ${cut(cleanLine(got.text))}`, { bad: false });
      }
      const notices = (got.move?.notices ?? []).map(cleanLine);
      const said = [cleanLine(got.status ?? ""), got.queued ? w.runsAtStep(name) : "", ...notices].filter(Boolean).join(" ");
      // Who is led elsewhere does not see this box any more.
      if (said && here.current && !got.move?.sessionId) box.say(said);
      else if (said) tell(said, { bad: false });
      if (got.move) led(client, sessionId, got.move, here.current, box.write);
    },
    [client, sessionId],
  );
  const close = useCallback(() => setPrinted(undefined), []);
  return { going: all.filter((e) => e.long).map((e) => e.typed), waiting: all.length, printed, close, run, ran };
}

function cut(text: string): string {
  return text.length > maxTold ? `${text.slice(0, maxTold)}…` : text;
}

/** A command of an extension leads this page, and no other client. Who has gone elsewhere meanwhile stays there. */
function led(client: Client, from: SessionID, move: Move, here: boolean, write: (text: string) => void): void {
  const to = move.sessionId;
  if (!to) {
    if (move.quit && here) go({ at: "home" });
    return;
  }
  if (move.editor) {
    const text = cleanText(move.editor);
    if (to === from && here) write(text);
    else keepDraft(to, [draftOf(to), text].filter(Boolean).join("\n"));
  }
  const at = parseRoute(location.hash);
  if (to !== from && at.at === "session" && at.id === from) go({ at: "session", id: to });
  if (!move.message) return;
  const text = cleanText(move.message);
  client.call("send_message", { content: [{ type: "text", text }] }, { sessionId: to }).catch((e) => tell(sentence(e)));
}
