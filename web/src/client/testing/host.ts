/** A real host for tests: the binary is built, and served in a home of its own with the script model. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequestName, SessionID } from "../../protocol/index";
import { Client } from "../client";
import { newClientID } from "../ids";
import { webSocket } from "../socket";

/** Why the real host cannot be used here, "" if it can. */
export function withoutHost(): string {
  if (process.env.SCOREL_BINARY) return "";
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return "";
  } catch {
    return "there is no Go, so the real host is not used";
  }
}

/** The binary: SCOREL_BINARY, which setup.ts builds unless it is set. */
function binary(): string {
  if (!process.env.SCOREL_BINARY) throw new Error("SCOREL_BINARY names no binary");
  return process.env.SCOREL_BINARY;
}

export interface HostOptions {
  /** Lines of the script of the model. */
  script: object[];
  /** Names under which the host is reached: those of a proxy. */
  names?: string[];
  /** Where pages that may connect are from. */
  origins?: string[];
  /** Public keys that may come in, with their client ids. */
  keys?: { clientId: string; publicKey: string }[];
  /** More of the configuration. */
  config?: string;
  /** More of its environment. */
  env?: Record<string, string>;
}

export class Host {
  readonly home = mkdtempSync(join(tmpdir(), "scorel-web-"));
  readonly model: string;
  readonly work: string;
  private child: ChildProcess | undefined;
  private readonly env: Record<string, string>;

  constructor(options: HostOptions) {
    this.env = options.env ?? {};
    const dir = this.path();
    mkdirSync(dir, { mode: 0o700 });
    this.work = join(this.home, "work");
    mkdirSync(this.work);
    const script = join(this.home, "model.script");
    writeFileSync(script, options.script.map((l) => `${JSON.stringify(l)}\n`).join(""));
    this.model = `script:${script}`;
    writeFileSync(
      join(dir, "config.toml"),
      `[model]\nname = ${JSON.stringify(this.model)}\n[host]\nnames = ${JSON.stringify(options.names ?? [])}\norigins = ${JSON.stringify(options.origins ?? [])}\n${options.config ?? ""}`,
    );
    const entries = (options.keys ?? []).map((k) => ({ ...k, label: "test", grant: "control", addedAt: 1 }));
    if (entries.length > 0) writeFileSync(join(dir, "entries.json"), JSON.stringify({ version: 1, entries }), { mode: 0o600 });
  }

  /** Starts the host; it resolves when clients can come. */
  async start(port = 0): Promise<void> {
    const env = { PATH: process.env.PATH, HOME: this.home, ...this.env };
    const child = spawn(binary(), ["host", "serve", "--listen", `127.0.0.1:${port}`], {
      env,
      cwd: this.work,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const take = (data: Buffer) => {
        said += data;
        if (said.includes("listens on")) resolve();
      };
      child.stdout?.on("data", take);
      child.stderr?.on("data", take);
      child.once("exit", () => reject(new Error(`the host did not start: ${said}`)));
    });
  }

  get port(): number {
    const addresses = (JSON.parse(readFileSync(this.path("host.json"), "utf8")) as { addresses: string[] }).addresses;
    return Number(
      addresses
        .find((a) => a.startsWith("ws://"))
        ?.split(":")
        .at(-1),
    );
  }

  get device(): string {
    return (JSON.parse(readFileSync(this.path("host.json"), "utf8")) as { deviceId: string }).deviceId;
  }

  get token(): string {
    return readFileSync(this.path("host.header"), "utf8")
      .trim()
      .replace(/^.*Bearer /, "");
  }

  /** Makes a request as somebody who has the host's token. */
  async request<T>(type: string, fields: object, sessionId?: string): Promise<T> {
    const client = new Client({
      dial: webSocket({
        url: `ws://127.0.0.1:${this.port}`,
        token: this.token,
        clientId: newClientID(),
        clientName: "test",
        interactive: false,
      }),
    });
    try {
      return (await client.call(type as RequestName, fields as never, sessionId ? { sessionId: sessionId as SessionID } : {})) as T;
    } finally {
      await client.close();
    }
  }

  /** Writes a file into the folder of the project. */
  write(name: string, text: string): void {
    writeFileSync(join(this.work, name), text);
  }

  /** Kills the host and waits until it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.kill(signal);
    });
  }

  /** Has the host stand still, or go on: its connections stay, and nothing comes over them. */
  hold(on: boolean): void {
    this.child?.kill(on ? "SIGSTOP" : "SIGCONT");
  }

  /** The file of the log of a session, "" while there is none. */
  log(sessionId: string): string {
    const names = readdirSync(this.path(), { recursive: true, encoding: "utf8" });
    const name = names.find((n) => n.includes(sessionId) && n.endsWith(".jsonl"));
    return name ? this.path(name) : "";
  }

  /** The log of a session as it is on the disk, "" while there is none. */
  stored(sessionId: string): string {
    const name = this.log(sessionId);
    return name ? readFileSync(name, "utf8") : "";
  }

  async remove(): Promise<void> {
    await this.kill();
    if (existsSync(this.home)) rmSync(this.home, { recursive: true, force: true });
  }

  /** A file in its folder .scorel. */
  path(name = ""): string {
    return join(this.home, ".scorel", name);
  }
}
