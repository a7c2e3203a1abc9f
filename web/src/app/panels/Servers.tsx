import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { cleanText } from "../../display/index";
import type { MCPInput, MCPLogin, MCPServerInfo, MCPState } from "../../protocol/index";
import { useAction, useAnswer, useClient, useMay, useSession } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { short } from "../words/format";
import { useWords } from "../words/index";
import { extensionWords, type Standing } from "./extensionwords";
import { Answered, Problems } from "./pane";
import { Entry, Fold, Machine } from "./section";

const states: Record<MCPState, [Standing, keyof (typeof extensionWords)["en"]]> = {
  configured: ["off", "configured"],
  pending: ["live", "pending"],
  connected: ["done", "connected"],
  "needs-auth": ["wait", "needsAuth"],
  failed: ["fail", "failed"],
  disabled: ["off", "disabled"],
  refused: ["fail", "refused"],
  suppressed: ["off", "suppressed"],
};

/** The MCP servers of the session. */
export function Servers() {
  const w = useWords(extensionWords);
  const { sessionId } = useSession();
  const answer = useAnswer("list_mcp_servers", {}, { sessionId, again: (c) => c.mcp.includes(sessionId) });
  return (
    <Answered of={answer}>
      {(list) => (
        <>
          <Problems of={list.problems} />
          {!list.servers?.length && <p className="quiet">{w.noServers}</p>}
          <ul className="entries">
            {list.servers?.map((s) => (
              <Server key={`${s.name} ${s.scope} ${s.source}`} server={s} changed={answer.reload} />
            ))}
          </ul>
          {(list.savedTokens ?? 0) > 0 && <p className="quiet">{w.saved(short(list.savedTokens ?? 0))}</p>}
        </>
      )}
    </Answered>
  );
}

function Server({ server: s, changed }: { server: MCPServerInfo; changed(): void }) {
  const w = useWords(extensionWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const [login, setLogin] = useState<MCPLogin>();
  const act = useAction(async (what: "enable" | "disable" | "reconnect" | "login") => {
    if (what === "login") setLogin(await client.call("begin_mcp_login", { name: s.name }, { sessionId }));
    else if (what === "reconnect") await client.call("reconnect_mcp_server", { name: s.name }, { sessionId });
    else await client.call("enable_mcp_server", { name: s.name, enabled: what === "enable" }, { sessionId });
    changed();
  });
  const [standing, word] = states[s.state] ?? ["off", "found"];
  const counts = [
    s.tools !== undefined && w.toolsOf(s.tools),
    s.prompts && w.promptsOf(s.prompts),
    s.resources && w.resourcesOf(s.resources),
    s.type,
    s.signedIn && w.signedIn,
  ].filter(Boolean);
  const runs = s.state === "connected" || s.state === "failed" || s.state === "pending" || s.state === "needs-auth";
  return (
    <Entry
      name={s.name}
      standing={standing}
      state={w[word] as string}
      problem={s.problem}
      about={
        <>
          {s.title && s.title !== s.name && <div>{s.title}</div>}
          <div>{counts.join(" · ")}</div>
          {s.target && <div className="mono">{s.target}</div>}
          {s.source && <div>{s.source}</div>}
        </>
      }
      actions={
        may && (
          <>
            {s.canSignIn && !s.signedIn && !login && (
              <Button
                small
                look={s.state === "needs-auth" ? "lamp" : "edge"}
                disabled={act.busy}
                aria-label={w.signInTo(s.name)}
                onClick={() => void act.run("login")}
              >
                {w.signIn}
              </Button>
            )}
            {runs && (
              <Button small disabled={act.busy} aria-label={w.reconnectIt(s.name)} onClick={() => void act.run("reconnect")}>
                {w.reconnect}
              </Button>
            )}
            {s.state === "disabled" ? (
              <Button small disabled={act.busy} aria-label={w.enableIt(s.name)} onClick={() => void act.run("enable")}>
                {w.enable}
              </Button>
            ) : (
              s.state !== "suppressed" && (
                <Button small disabled={act.busy} aria-label={w.disableIt(s.name)} onClick={() => void act.run("disable")}>
                  {w.disable}
                </Button>
              )
            )}
          </>
        )
      }
    >
      <ErrorLine error={act.error} />
      {may && s.inputs?.map((i) => <Input key={i.id} server={s.name} input={i} changed={changed} />)}
      {login && (
        <Login
          login={login}
          ended={() => {
            setLogin(undefined);
            changed();
          }}
        />
      )}
      {may && runs && <Fold title={w.log}>{() => <Log name={s.name} />}</Fold>}
    </Entry>
  );
}

function Log({ name }: { name: string }) {
  const w = useWords(extensionWords);
  const { sessionId } = useSession();
  const answer = useAnswer("get_mcp_log", { name }, { sessionId, again: (c) => c.mcp.includes(sessionId) });
  return (
    <Answered of={answer}>
      {(log) => (log.text === "" ? <p className="quiet">{w.emptyLog}</p> : <Machine text={cleanText(log.text)} label={w.logOf(name)} />)}
    </Answered>
  );
}

/** A question of the entry of a server. */
function Input({ server, input, changed }: { server: string; input: MCPInput; changed(): void }) {
  const w = useWords(extensionWords);
  const client = useClient();
  const { sessionId } = useSession();
  const id = useId();
  const [value, setValue] = useState(input.default ?? "");
  const save = useAction(async (value: string) => {
    await client.call("set_mcp_input", { name: server, id: input.id, value }, { sessionId });
    if (input.password) setValue("");
    changed();
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void save.run(value);
  };
  return (
    <form className="field" onSubmit={submit}>
      <label htmlFor={id}>{input.description || input.id}</label>
      <span className="acts">
        {input.options?.length ? (
          <select id={id} className="input grow" value={value} onChange={(e) => setValue(e.target.value)}>
            {!input.options.includes(value) && <option value={value}>{value}</option>}
            {input.options.map((o) => (
              <option key={o}>{o}</option>
            ))}
          </select>
        ) : (
          <input
            id={id}
            className="input grow"
            type={input.password ? "password" : "text"}
            autoComplete="off"
            value={value}
            onChange={(e) => setValue(e.target.value)}
          />
        )}
        <Button small type="submit" disabled={save.busy || value === ""}>
          {w.answerIt}
        </Button>
      </span>
      {input.answered && <p className="quiet">{w.kept}</p>}
      <ErrorLine error={save.error} />
    </form>
  );
}

/** Whether an address of a server may be opened: a page of the web. */
export function isPage(url: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}

/** A sign-in that waits for a person. Closing the panel ends it. */
function Login({ login, ended }: { login: MCPLogin; ended(): void }) {
  const w = useWords(extensionWords);
  const client = useClient();
  const id = useId();
  const [pasted, setPasted] = useState("");
  const [error, setError] = useState<Error>();
  const done = useRef(ended);
  done.current = ended;
  useEffect(() => {
    const abort = new AbortController();
    let over = false;
    client.call("await_mcp_login", { loginId: login.loginId }, { signal: abort.signal }).then(
      () => {
        over = true;
        done.current();
      },
      (e: Error) => {
        over = true;
        if (!abort.signal.aborted) setError(e);
      },
    );
    return () => {
      if (!over) void client.call("cancel_mcp_login", { loginId: login.loginId }).catch(() => undefined); // it ends by itself after five minutes
      abort.abort();
    };
  }, [client, login]);
  const paste = useAction((address: string) =>
    client.call("await_mcp_login", { loginId: login.loginId, pasted: address }).then(() => done.current()),
  );
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void paste.run(pasted);
  };
  return (
    <form className="login" onSubmit={submit}>
      <p>{w.loginAbout}</p>
      {isPage(login.url) ? (
        <a className="btn ink" href={login.url} target="_blank" rel="noopener noreferrer">
          {w.openPage(login.host)}
        </a>
      ) : (
        <p className="mono">{login.url}</p>
      )}
      {!error && <p className="quiet">{w.waiting}</p>}
      <div className="field">
        <label htmlFor={id}>{w.address}</label>
        <input
          id={id}
          className="input"
          autoComplete="off"
          value={pasted}
          onChange={(e) => setPasted(e.target.value)}
          aria-describedby={`${id}-about`}
        />
        <p id={`${id}-about`} className="quiet">
          {w.pasteAbout}
        </p>
      </div>
      <ErrorLine error={paste.error ?? error} />
      <div className="acts">
        <Button small onClick={() => done.current()}>
          {w.cancel}
        </Button>
        <Button small type="submit" disabled={pasted === "" || paste.busy}>
          {w.paste}
        </Button>
      </div>
    </form>
  );
}
