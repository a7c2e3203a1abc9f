import { cleanLine } from "../../display/clean";
import { ClosedByBack } from "../parts/back";
import { Command } from "cmdk";
import {
  ChevronRight,
  Contrast,
  GitFork,
  Keyboard,
  Languages,
  List,
  type LucideIcon,
  MessageSquareText,
  Moon,
  PanelRight,
  Plus,
  Search,
  Slash,
  Sun,
  SunMoon,
} from "lucide-react";
import { Dialog as RDialog } from "radix-ui";
import { useCallback, useState } from "react";
import type { CommandInfo, SearchHit, SessionID } from "../../protocol/index";
import { useAnswer } from "../host/context";
import { Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { panels } from "../panels/index";
import { useSettled } from "../places/hooks";
import { usePlaces } from "../places/store";
import { projectNames, standingOf, titleOf } from "../places/summary";
import { placesWords } from "../places/words";
import { go, useRoute } from "../route";
import { setLooks } from "../theme/theme";
import { ago } from "../words/format";
import { setLanguage, useLanguage, useWords } from "../words/index";
import { type Does, shortcuts } from "./keys";
import { RunCommand, useRunCommand } from "./RunCommand";
import { asWords, fits, searchable } from "./match";
import { paletteWords } from "./words";
import "./palette.css";

/** How long a person may type before the host is asked. */
const typingMs = 200;
const maxSessions = 12;
const maxHits = 40;

interface Action {
  id: string;
  name: string;
  icon: LucideIcon;
  keys?: string[] | undefined;
  run(): void;
}

/** Everything in one list: sessions, what was said in them, commands, places, looks. */
export default function PaletteDialog({
  begin,
  onClose,
  act,
}: {
  /** what was typed already */
  begin(): string;
  onClose(): void;
  act: Record<Does, () => void>;
}) {
  const w = useWords(paletteWords);
  const [text, setText] = useState("");
  const field = useCallback(
    (el: HTMLInputElement | null) => {
      if (!el) return;
      el.focus();
      const early = begin();
      if (early) setText(early);
    },
    [begin],
  );
  const asked = useSettled(text.trim(), typingMs);
  const [argument, setArgument] = useState<CommandInfo>();
  const route = useRoute();
  const sessionId = route.at === "session" ? route.id : undefined;
  const run = useRunCommand(sessionId, onClose);
  const then = (f: () => void) => () => {
    onClose();
    f();
  };
  return (
    <RDialog.Root open onOpenChange={(o) => !o && onClose()}>
      <RDialog.Portal>
        <RDialog.Overlay className="scrim" />
        <RDialog.Content className="dialog palette" aria-describedby={undefined}>
          <ClosedByBack onClose={onClose} />
          <RDialog.Title className="sr">{w.title}</RDialog.Title>
          {argument ? (
            <RunCommand command={argument} run={run} onBack={() => setArgument(undefined)} />
          ) : (
            <Command shouldFilter={false} vimBindings={false} label={w.title} loop>
              <div className="pfind">
                <Icon of={Search} />
                <Command.Input ref={field} placeholder={w.placeholder} value={text} onValueChange={setText} />
              </div>
              <ErrorLine error={run.error} />
              <Command.List className="plines">
                <Found text={text} asked={asked} then={then} />
                <Actions text={text} then={then} act={act} inSession={sessionId} />
                {sessionId && (
                  <Commands
                    text={text}
                    sessionId={sessionId}
                    onPick={(c) => {
                      if (c.argumentHint) setArgument(c);
                      else void run.run(c.name, "");
                    }}
                  />
                )}
                <Command.Empty className="empty">{asked === text.trim() ? w.nothing : w.searching}</Command.Empty>
              </Command.List>
            </Command>
          )}
        </RDialog.Content>
      </RDialog.Portal>
    </RDialog.Root>
  );
}

type Then = (f: () => void) => () => void;

/** Sessions by their titles, and by what was said in them. */
function Found({ text, asked, then }: { text: string; asked: string; then: Then }) {
  const w = useWords(paletteWords);
  const of = useWords(placesWords);
  const places = usePlaces();
  const names = projectNames(places.projects);
  const known = places.sessions.filter((s) => fits(text, titleOf(s), (s.meta.projectId && names.get(s.meta.projectId)) || ""));
  // Titles of sessions that no page has had are looked for by the host.
  const listed = useAnswer("list_sessions", { query: asked, limit: maxSessions }, { enabled: asked !== "" && places.more });
  const ids = new Set(known.map((s) => s.sessionId));
  const others = asked === text.trim() ? (listed.data?.sessions ?? []).filter((s) => !ids.has(s.sessionId)) : [];
  const sessions = [
    ...known.filter((s) => standingOf(s, true) === "waits"),
    ...known.filter((s) => standingOf(s, true) !== "waits"),
    ...others,
  ];
  const search = searchable(asked);
  const found = useAnswer("search_sessions", { words: asWords(asked), limit: maxHits }, { enabled: search });
  const hits = search && asked === text.trim() ? (found.data?.sessions ?? []) : [];
  const open = (id: SessionID, event?: SearchHit["eventId"]) => then(() => go({ at: "session", id, ...(event ? { event } : {}) }));
  const who = (h: SearchHit) => (h.role === "user" ? w.you : h.role === "assistant" ? w.model : h.role ? w.toolSaid : "");
  return (
    <>
      {sessions.length > 0 && (
        <Command.Group heading={w.sessions}>
          {sessions.slice(0, maxSessions).map((s) => (
            <Command.Item key={s.sessionId} value={`s ${s.sessionId}`} className="mi" onSelect={open(s.sessionId)}>
              <span className={standingOf(s, true) === "waits" ? "note wait" : s.state?.running ? "note live" : "note"} />
              <span className="trunc">{titleOf(s) || of.untitled}</span>
              <span className="right t3 trunc">
                {[s.meta.projectId && names.get(s.meta.projectId), ago(s.updatedAt)].filter(Boolean).join(" · ")}
              </span>
            </Command.Item>
          ))}
        </Command.Group>
      )}
      <ErrorLine error={search ? found.error : undefined} />
      {hits.length > 0 && (
        <Command.Group heading={w.contents}>
          {hits.flatMap((s) =>
            (s.hits ?? []).map((h, i) => (
              <Command.Item
                key={`${s.sessionId} ${h.eventId ?? i}`}
                value={`h ${s.sessionId} ${h.eventId ?? i}`}
                className="mi hit"
                onSelect={open(s.sessionId, h.eventId)}
              >
                <Icon of={MessageSquareText} />
                <span className="grow">
                  <span className="snippet">
                    {h.snippet?.map((p, n) => (p.match ? <mark key={n}>{p.text}</mark> : <span key={n}>{p.text}</span>))}
                  </span>
                  <span className="t3 trunc under">
                    {[cleanLine(s.meta.name || s.firstPrompt || ""), who(h), h.ts ? ago(h.ts) : "", h.active ? "" : w.otherBranch]
                      .filter(Boolean)
                      .join(" · ")}
                  </span>
                </span>
              </Command.Item>
            )),
          )}
        </Command.Group>
      )}
      {hits.length > 0 && found.data?.more && <p className="t3 plinenote">{w.moreHits}</p>}
      {search && found.data?.unreadable?.length ? <p className="t3 plinenote">{w.unreadable(found.data.unreadable.length)}</p> : null}
      {search && found.data?.damaged?.length ? <p className="t3 plinenote">{w.damaged(found.data.damaged.length)}</p> : null}
    </>
  );
}

/** Places of the page, keys, theme and language. */
function Actions({
  text,
  then,
  act,
  inSession,
}: {
  text: string;
  then: Then;
  act: Record<Does, () => void>;
  inSession: SessionID | undefined;
}) {
  const w = useWords(paletteWords);
  const language = useLanguage();
  const keys = (does: Does) => shortcuts.find((s) => s.does === does)?.keys;
  const places: Action[] = [
    { id: "new", name: w.newSession, icon: Plus, keys: keys("newSession"), run: act.newSession },
    { id: "home", name: w.home, icon: List, run: () => go({ at: "home" }) },
    { id: "waiting", name: w.waiting, icon: ChevronRight, keys: keys("waiting"), run: act.waiting },
    ...(inSession ? [{ id: "tree", name: w.tree, icon: GitFork, keys: keys("tree"), run: act.tree }] : []),
    ...panels
      .filter((p) => p.place === "device" || inSession)
      .map((p) => ({
        id: `panel ${p.id}`,
        name: p.place === "session" ? w.panelOf(p.title[language]) : p.title[language],
        icon: p.place === "session" ? PanelRight : p.icon,
        run: () => go(p.place === "session" && inSession ? { at: "session", id: inSession, panel: p.id } : { at: "panel", panel: p.id }),
      })),
    // After the palette is gone, so that this dialog is not taken for its.
    { id: "keys", name: w.showKeys, icon: Keyboard, keys: keys("showKeys"), run: () => setTimeout(act.showKeys) },
  ];
  const looks: Action[] = [
    { id: "system", name: w.themeSystem, icon: SunMoon, run: () => setLooks({ theme: "system" }) },
    { id: "light", name: w.themeLight, icon: Sun, run: () => setLooks({ theme: "light" }) },
    { id: "dark", name: w.themeDark, icon: Moon, run: () => setLooks({ theme: "dark" }) },
    { id: "more", name: w.contrastMore, icon: Contrast, run: () => setLooks({ contrast: "more" }) },
    { id: "ordinary", name: w.contrastSystem, icon: Contrast, run: () => setLooks({ contrast: "system" }) },
    { id: "en", name: w.languageEn, icon: Languages, run: () => setLanguage("en") },
    { id: "zh", name: w.languageZh, icon: Languages, run: () => setLanguage("zh") },
  ];
  const group = (heading: string, all: Action[]) => {
    const found = all.filter((a) => fits(text, a.name, a.id));
    if (found.length === 0) return null;
    return (
      <Command.Group heading={heading}>
        {found.map((a) => (
          <Command.Item key={a.id} value={`a ${a.id}`} className="mi" onSelect={then(a.run)}>
            <Icon of={a.icon} />
            <span className="trunc">{a.name}</span>
            {a.keys && (
              <span className="right">
                {a.keys.map((k) => (
                  <kbd key={k}>{k}</kbd>
                ))}
              </span>
            )}
          </Command.Item>
        ))}
      </Command.Group>
    );
  };
  return (
    <>
      {group(w.go, places)}
      {group(w.looks, looks)}
    </>
  );
}

/** The slash commands of the session that is open. */
function Commands({ text, sessionId, onPick }: { text: string; sessionId: SessionID; onPick(c: CommandInfo): void }) {
  const w = useWords(paletteWords);
  const list = useAnswer("list_commands", {}, { sessionId });
  const found = (list.data?.commands ?? []).filter((c) => fits(text, `/${c.name}`, c.description ?? ""));
  return (
    <>
      <ErrorLine error={list.error} />
      {found.length > 0 && (
        <Command.Group heading={w.commands}>
          {found.map((c) => (
            <Command.Item key={c.name} value={`c ${c.name}`} className="mi" disabled={Boolean(c.refused)} onSelect={() => onPick(c)}>
              <Icon of={Slash} />
              <span className="mono cmd">
                /{c.name} {c.argumentHint}
              </span>
              <span className="right t3 trunc">{c.refused || c.description}</span>
            </Command.Item>
          ))}
        </Command.Group>
      )}
    </>
  );
}
