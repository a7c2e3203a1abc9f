/** The sessions of the device: one list for the page, from the host and from what changes. */
import { useEffect, useState } from "react";
import { SessionIndex } from "../../client/index";
import type { SessionSummary } from "../../protocol/index";
import { useClient, useDevice } from "../host/context";

/** How many sessions are asked for at once. */
const pageSize = 200;

export interface Sessions {
  list: SessionSummary[];
  more: boolean;
  loading: boolean;
  error: Error | undefined;
  loadMore(): void;
}

/** The newest sessions, those that changed last first. */
export function useSessions(): Sessions {
  const client = useClient();
  const [index, setIndex] = useState(() => new SessionIndex());
  const [state, setState] = useState<{ list: SessionSummary[]; more: boolean; loading: boolean; error?: Error }>({
    list: [],
    more: false,
    loading: true,
  });
  const load = (into: SessionIndex, before?: SessionSummary) =>
    into
      .load((r) => client.call("list_sessions", r), {
        limit: pageSize,
        ...(before ? { before: before.sessionId, beforeTime: before.updatedAt } : {}),
      })
      .then(
        (page) => setState({ list: into.list(), more: page.more ?? false, loading: false }),
        (error: Error) => setState((s) => ({ ...s, loading: false, error })),
      );
  // biome-ignore lint/correctness/useExhaustiveDependencies: load uses nothing else
  useEffect(() => void load(index), [client, index]);
  useDevice((c) => {
    if (c.missed) setIndex(new SessionIndex());
    else if (c.sessions.length > 0) {
      index.changed(c);
      setState((s) => ({ ...s, list: index.list() }));
    }
  });
  return { ...state, error: state.error, loadMore: () => void load(index, state.list.at(-1)) };
}

/** The title of a session for people. */
export function titleOf(s: SessionSummary): string {
  return s.meta.name || s.state?.title || s.firstPrompt || "";
}
