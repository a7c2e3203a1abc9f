/**
 * How a session begins: the folder is made known, a wide one is allowed by its name, its files are
 * trusted or not, the session is made, and the first message is sent. What has to be asked stops
 * the way until it is answered; a try again goes on where the last one failed.
 */
import { useRef, useState } from "react";
import { newSessionID } from "../../client/index";
import { cleanLine } from "../../display/clean";
import type { Project, SessionID } from "../../protocol/index";
import { useAction, useClient } from "../host/context";
import { keep, kept } from "../host/kept";
import { tell } from "../parts/tell";
import { go } from "../route";

export interface Beginning {
  workDir: string;
  /** "" for the configured one */
  model: string;
  name: string;
  /** "" for an empty session */
  text: string;
}

export interface Asks {
  kind: "wide" | "trust";
  project: Project;
}

/** Lists of files that a person works without are noted, so that each is asked about once in this browser. */
const maxWithout = 50;
const withoutKept = "untrusted";

function without(): string[] {
  try {
    const list: unknown = JSON.parse(kept(withoutKept) ?? "[]");
    return Array.isArray(list) ? list.filter((h): h is string => typeof h === "string") : [];
  } catch {
    return [];
  }
}

export function useBegin() {
  const client = useClient();
  const [asks, setAsks] = useState<Asks>();
  const wanted = useRef<Beginning>(undefined);
  const made = useRef<{ id: SessionID; of: string }>(undefined);
  const asked = useRef(""); // the folder whose trust was asked about just now

  const action = useAction(async (b: Beginning, wide: boolean) => {
    wanted.current = b;
    const project = await client.call("register_project", { workDir: b.workDir, ...(wide ? { wide } : {}) });
    if (project.wide && !project.wideAllowed) return setAsks({ kind: "wide", project });
    const trust = project.trust?.state;
    if ((trust === "untrusted" || trust === "changed") && asked.current !== project.root) {
      const { hash } = await client.call("get_trust", { projectId: project.projectId });
      if (!hash || !without().includes(hash)) return setAsks({ kind: "trust", project });
    }
    const { projectId } = project;
    const of = JSON.stringify([projectId, b.workDir, b.model, b.name]);
    if (made.current?.of !== of) {
      const id = newSessionID();
      await client.call(
        "create_session",
        { projectId, meta: { workDir: b.workDir, ...(b.model ? { model: b.model } : {}), ...(b.name ? { name: b.name } : {}) } },
        { sessionId: id },
      );
      made.current = { id, of };
      for (const n of project.notices ?? []) tell(cleanLine(n));
    }
    const { id } = made.current;
    if (b.text) await client.call("send_message", { content: [{ type: "text", text: b.text }] }, { sessionId: id });
    made.current = undefined;
    keep("draft.new", undefined);
    keep("folder", b.workDir);
    go({ at: "session", id });
  });

  const answer = async (yes: boolean, ofTrust?: string) => {
    const was = asks;
    setAsks(undefined);
    if (!was || !yes || !wanted.current) return;
    if (was.kind === "trust") {
      asked.current = was.project.root;
      if (ofTrust) keep(withoutKept, JSON.stringify([...without().filter((h) => h !== ofTrust), ofTrust].slice(-maxWithout)));
    }
    await action.run(wanted.current, was.kind === "wide");
  };

  return {
    run: (b: Beginning) => {
      asked.current = "";
      return action.run(b, false);
    },
    busy: action.busy,
    error: action.error,
    clear: action.clear,
    asks,
    answer,
  };
}
