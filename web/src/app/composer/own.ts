/**
 * The commands that the page has itself: those of the terminal UI (docs/terminal-ui.md) that lead
 * to something which the page has, done in its way. All others are run by the host. For those of
 * the terminal that have another place here, it says which.
 */
import { useMemo } from "react";
import { newSessionID } from "../../client/index";
import type { CommandInfo } from "../../protocol/index";
import { useClient, useSession } from "../host/context";
import { openPalette } from "../palette/Palette";
import { tell } from "../parts/tell";
import { textOf } from "../conversation/rows";
import { go } from "../route";
import { type Language, useWords } from "../words/index";
import { setLooks, themes } from "../theme/theme";
import { lastAnswer } from "./history";
import { insteadWords, ownWords } from "./ownwords";
import { changeServer } from "./servers";
import { composerWords } from "./words";

/** The lists beside the box that a command opens. */
export type Picking = "mode" | "model" | "thinking" | "file";

export interface OwnCommand {
  name: string;
  /** further names that mean the same */
  also: readonly string[];
  /** what may follow; "": nothing may, so what does is refused */
  hint: string;
  about: string;
  /** undefined: the host runs it, with these arguments. A text that it resolves to is what came of it. */
  run(args: string): Promise<unknown> | undefined;
}

/** A place in the page, by the names of the commands that lead there. */
const places: readonly [
  names: readonly string[],
  about: keyof typeof ownWords.en,
  at: [panel: string, section?: string] | "session" | "extensions" | "tree",
][] = [
  [["context"], "context", "session"],
  [["cost"], "cost", "session"],
  [["tasks", "process"], "tasks", "session"],
  [["notices"], "notices", "session"],
  [["tree", "branch"], "tree", "tree"],
  [["rewind"], "rewind", "tree"],
  [["extensions"], "extensions", "extensions"],
  [["skills"], "skills", "extensions"],
  [["agents"], "agents", "extensions"],
  [["tools"], "tools", "extensions"],
  [["hooks"], "hooks", "extensions"],
  [["config"], "config", ["settings", "config"]],
  [["login"], "login", ["settings", "models"]],
  [["trust"], "trust", ["settings", "projects"]],
  [["doctor"], "doctor", ["doctor"]],
  [["ps", "daemon"], "ps", ["host"]],
  [["remote-control", "rc"], "remote", ["clients"]],
];

export function useOwnCommands(open: (p: Picking) => void, thinks: boolean): readonly OwnCommand[] {
  const w = useWords(composerWords);
  const own = useWords(ownWords);
  const client = useClient();
  const session = useSession();
  return useMemo(() => {
    const { sessionId } = session;
    const info = (changes: { thinkingLevel?: string; name?: string }) => client.call("update_info", { changes }, { sessionId });
    const now = (f: () => void) => {
      f();
      return Promise.resolve();
    };
    const picks = (p: Picking) => (args: string) => (args === "" ? now(() => open(p)) : undefined);
    const lacks = (problem: string) => Promise.reject(new Error(problem));
    const command = (name: string, hint: string, about: string, run: OwnCommand["run"], ...also: string[]): OwnCommand => ({
      name,
      also,
      hint,
      about,
      run,
    });
    return [
      command("add", "", own.add, () => now(() => open("file")), "attach"),
      command("clone", "[NAME]", own.clone, async (name) => {
        const id = newSessionID();
        const copy = await client.call("clone_session", { fromSessionId: sessionId, ...(name ? { name } : {}) }, { sessionId: id });
        for (const n of copy.notices ?? []) tell(n);
        go({ at: "session", id });
        tell(w.copiedSession, { bad: false });
      }),
      command("copy", "", own.copy, async () => {
        const text = answerOf(lastAnswer(session.projection.path, (m) => answerOf(m.content) !== "")?.content ?? "");
        if (text === "") throw new Error(w.nothingToCopy);
        await navigator.clipboard.writeText(text);
        tell(w.copiedAnswer, { bad: false });
      }),
      command("help", "", own.help, () => now(() => openPalette("keys"))),
      command("logout", "[PROVIDER]", own.logout, async (provider) => {
        if (provider === "") return go({ at: "panel", panel: "settings", section: "models" });
        await client.call("set_credential", { provider, key: "" });
        return w.keyRemoved(provider);
      }),
      command("mcp", "[enable|disable|reconnect NAME]", own.mcp, (args) =>
        args === "" ? now(() => go({ at: "session", id: sessionId, panel: "extensions" })) : changeServer(client, sessionId, args, w),
      ),
      command("mode", "[MODE]", own.mode, picks("mode")),
      command("model", "[MODEL]", own.model, picks("model")),
      command("monitor", "COMMAND", own.monitor, (line) =>
        line === "" ? lacks(w.commandMissing) : client.call("run_shell", { command: line, inContext: true, monitor: true }, { sessionId }),
      ),
      command("new", "", own.new, async () => {
        await client.call("leave_session", { reason: "new" }, { sessionId });
        go({ at: "new" });
      }),
      command("quit", "", own.quit, () => now(() => go({ at: "home" }))),
      command("rename", "NAME", own.rename, (name) => (name === "" ? lacks(w.nameMissing) : info({ name })), "name"),
      command("resume", "", own.resume, () => now(() => openPalette())),
      command("theme", "[NAME]", own.theme, async (name) => {
        if (name === "") return go({ at: "panel", panel: "settings", section: "looks" });
        const theme = themes.find((t) => t === (name === "auto" ? "system" : name)); // auto: its name in the terminal UI
        if (!theme) throw new Error(w.noTheme(name, themes.join(", ")));
        setLooks({ theme });
        return w.themeIs(theme);
      }),
      command("thinking", "[LEVEL]", own.thinking, (level) =>
        level !== "" ? info({ thinkingLevel: level }) : thinks ? now(() => open("thinking")) : lacks(w.noLevels),
      ),
      ...places.map(([[name = "", ...also], about, at]) =>
        command(
          name,
          "",
          own[about],
          () =>
            now(() =>
              typeof at === "string"
                ? go({ at: "session", id: sessionId, panel: at })
                : go({ at: "panel", panel: at[0], ...(at[1] ? { section: at[1] } : {}) }),
            ),
          ...also,
        ),
      ),
    ];
  }, [w, own, client, session, open, thinks]);
}

/** The command of the page that a name means. */
export function ownOf(own: readonly OwnCommand[], name: string): OwnCommand | undefined {
  return own.find((o) => o.name === name || o.also.includes(name));
}

/** The commands of the host beside the page's own: one of the same name is named with where it is from, as which the host knows it too. */
export function beside(own: readonly OwnCommand[], host: readonly CommandInfo[]): CommandInfo[] {
  return host
    .filter((c) => c.source !== "builtin" || !ownOf(own, c.name))
    .map((c) => (ownOf(own, c.name) ? { ...c, name: `${c.name}:${c.source}` } : c));
}

/** What serves instead of a command of the terminal that has another place here, "" for nothing. */
export function insteadOf(name: string, language: Language): string {
  const all = insteadWords[language];
  return Object.hasOwn(all, name) ? all[name as keyof typeof all] : "";
}

function answerOf(content: Parameters<typeof textOf>[0] | string): string {
  return typeof content === "string" ? content : textOf(content);
}
