/**
 * What can be typed at the cursor: commands, their arguments, files of the project, resources of
 * MCP servers. The host is asked only while such a thing is typed, and useAnswer drops a late answer.
 */
import { useEffect, useMemo, useRef, useState } from "react";
import { cleanLine } from "../../display/index";
import type { CommandInfo, Completion as Argument, ProjectID } from "../../protocol/index";
import { useAnswer, useLive, useSession } from "../host/context";
import { useSettled } from "../places/hooks";
import { beside, type OwnCommand } from "./own";
import { lettersIn, mentionOf, rank, type Token, tokenAt } from "./typed";

/** Things that are offered, and how often a search of files that still goes on is asked again. */
const maxOffered = 50;
const maxAgain = 20;
const againMs = 200;
/** Bytes of what is looked for, as the host takes them. */
const maxQuery = 256;
/** How long typing rests before the host is asked. */
const typingMs = 60;

export interface Offer {
  /** what stands in the text instead of what is typed; each is offered once */
  value: string;
  label: string;
  hint?: string;
  about?: string;
  from?: string;
  /** It takes no arguments: Enter runs it. */
  whole?: boolean;
}

export interface Completion {
  token: Token | undefined;
  /** none: nothing is offered */
  offers: readonly Offer[];
  /** The one that is on, -1 for none: an argument may be anything, so none is on until somebody moves there. */
  on: number;
  move(by: 1 | -1): void;
  error: Error | undefined;
  dismiss(): void;
}

export function useCompletion(text: string, cursor: number, focused: boolean, own: readonly OwnCommand[]): Completion {
  const { sessionId } = useSession();
  const projectId = useLive((l) => l.meta.projectId);
  const typed = useMemo(() => tokenAt(text.slice(0, cursor)), [text, cursor]);
  const place = typed ? `${typed.kind} ${typed.start}` : "";
  const [dismissed, setDismissed] = useState("");
  useEffect(() => {
    if (place !== dismissed) setDismissed("");
  }, [place, dismissed]);
  const open = place !== "" && focused && dismissed !== place && short(typed?.query ?? "");
  const token = open ? typed : undefined;

  const now = `${place}\n${typed?.query ?? ""}`;
  const rested = useSettled(now, typingMs);
  // What rested in another place is no question here.
  const asks = token !== undefined && rested.startsWith(`${place}\n`);
  const query = asks ? rested.slice(place.length + 1) : "";
  const isFile = token?.kind === "file";
  const commands = useAnswer("list_commands", {}, { sessionId, enabled: token?.kind === "command" || token?.kind === "argument" });
  const known = useMemo(() => beside(own, commands.data?.commands ?? []), [own, commands.data]);
  const files = useAnswer(
    "list_files",
    { projectId: projectId ?? ("" as ProjectID), query, limit: maxOffered },
    { enabled: asks && isFile && projectId !== undefined },
  );
  const resources = useAnswer("list_mcp_resources", { query, limit: maxOffered }, { sessionId, enabled: asks && isFile });
  const name = token?.kind === "argument" ? token.name : "";
  // The arguments of a command that the page and the host have are the host's.
  const shared = (c: CommandInfo) => c.name === name && c.source === "builtin";
  const completes = (known.find((c) => c.name === name) ?? commands.data?.commands?.find(shared))?.completes === true;
  const args = useAnswer("complete_command", { name, args: query }, { sessionId, enabled: asks && name !== "" && completes });

  // The host may still be looking at the files: it is asked again until it has found enough.
  const again = useRef({ query: "", n: 0 });
  const { data: found, reload } = files;
  useEffect(() => {
    if (!isFile || !found?.more || (found.files?.length ?? 0) >= maxOffered) return;
    if (again.current.query !== query) again.current = { query, n: 0 };
    if (again.current.n++ >= maxAgain) return;
    const timer = setTimeout(reload, againMs);
    return () => clearTimeout(timer);
  }, [found, isFile, query, reload]);

  // While a newer answer is on its way, what fits of the last one stays.
  const last = useRef<{ place: string; offers: Offer[] }>({ place: "", offers: [] });
  const offers = useMemo(() => {
    if (!token) return [];
    if (token.kind === "command") return ofCommands(known, own, token.query);
    const answer =
      token.kind === "argument"
        ? completes && args.data && ofArguments(args.data.items ?? [])
        : (files.data || (projectId === undefined && resources.data)) &&
          [...ofFiles(files.data?.files ?? []), ...ofResources(resources.data?.resources ?? [])].slice(0, maxOffered);
    if (answer) last.current = { place, offers: answer };
    if (token.kind === "argument" && !completes) return [];
    if (answer && query === token.query) return answer;
    return last.current.place === place ? last.current.offers.filter((o) => lettersIn(o.value, token.query)) : [];
  }, [token, place, query, known, args.data, files.data, resources.data, own, completes, projectId]);

  // What somebody has moved to stays on when the list changes, as long as the text does not.
  const [moved, setMoved] = useState({ now: "", value: "" });
  const at = moved.now === now ? offers.findIndex((o) => o.value === moved.value) : -1;
  const on = at >= 0 ? at : token?.kind === "argument" || offers.length === 0 ? -1 : 0;
  const move = (by: 1 | -1) => {
    const n = offers.length;
    const next = offers[on < 0 ? (by > 0 ? 0 : n - 1) : (on + by + n) % n];
    if (next) setMoved({ now, value: next.value });
  };
  const error = token?.kind === "file" ? files.error : token?.kind === "argument" ? args.error : token && commands.error;
  return { token, offers, on, move, error, dismiss: () => setDismissed(place) };
}

function short(query: string): boolean {
  return query.length <= maxQuery && new TextEncoder().encode(query).length <= maxQuery;
}

function ofCommands(host: readonly CommandInfo[], own: readonly OwnCommand[], query: string): Offer[] {
  const all: Offer[] = [
    ...own.flatMap((o) =>
      // An alias is offered only where it is what is typed.
      [o.name, ...o.also.filter((a) => a === query)].map((n) => ({
        value: `/${n}`,
        label: `/${n}`,
        about: o.about,
        ...(o.hint ? { hint: o.hint } : { whole: true }),
      })),
    ),
    ...host
      .filter((c) => c.name !== "" && cleanLine(c.name) === c.name && !/\s/.test(c.name))
      .map((c) => ({
        value: `/${c.name}`,
        label: `/${c.name}`,
        about: cleanLine(c.refused || c.description || ""),
        ...(c.argumentHint ? { hint: cleanLine(c.argumentHint) } : {}),
        ...(c.source !== "builtin" ? { from: [c.scope, c.source].filter(Boolean).join(" ") } : {}),
        ...(!c.argumentHint && !c.completes && !c.refused ? { whole: true } : {}),
      })),
  ];
  return all
    .map((o) => ({ o, r: rank(o.value.slice(1), query) }))
    .filter((x): x is { o: Offer; r: number } => x.r !== undefined)
    .sort((a, b) => a.r - b.r || (a.o.value < b.o.value ? -1 : 1))
    .slice(0, maxOffered)
    .map((x) => x.o);
}

function ofArguments(items: readonly Argument[]): Offer[] {
  return once(
    items
      .filter((i) => !/[\n\r]/.test(i.value))
      .slice(0, maxOffered)
      .map((i) => ({ value: i.value, label: cleanLine(i.label || i.value), about: cleanLine(i.description ?? "") })),
  );
}

function ofFiles(paths: readonly string[]): Offer[] {
  return paths.filter((f) => !/["\n\r]/.test(f)).map((f) => ({ value: mentionOf(f), label: cleanLine(f) }));
}

function ofResources(list: readonly { server: string; uri: string; name?: string; description?: string }[]): Offer[] {
  return once(
    list
      .filter((r) => !/["\n\r]/.test(r.uri))
      .map((r) => ({
        value: mentionOf(`${r.server}:${r.uri}`),
        label: cleanLine(r.name || r.uri),
        about: cleanLine(r.description || r.uri),
        from: cleanLine(r.server),
      })),
  );
}

function once(offers: Offer[]): Offer[] {
  return [...new Map(offers.map((o) => [o.value, o])).values()];
}
