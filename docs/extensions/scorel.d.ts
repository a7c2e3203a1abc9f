// The types of Scorel's extension API, for editors. Put a line like this at the top of an
// extension, or name the file under "types" or "include" of a tsconfig.json:
//
//   /// <reference path="…/docs/extensions/scorel.d.ts" />
//
// docs/extensions/api.md explains the API. The modules of pi and TypeBox are part of Scorel;
// their types are those of "scorel".

declare module "scorel" {
  // ---------------------------------------------------------------------- The Scorel API

  /** Returns its argument; it exists only for the types. */
  export function defineExtension(extension: Extension): Extension;

  /** The `export default` of a file, for an extension of the Scorel API. */
  export interface Extension {
    id?: string;
    name?: string;
    version?: string;
    /** Runs once when the extension is loaded. If it throws, loading fails. */
    activate?(ctx: Context): void | Promise<void>;
    /** Runs when the session is closed or extensions are reloaded. */
    deactivate?(): void | Promise<void>;
    tools?(): AnyTool<Context>[] | Promise<AnyTool<Context>[]>;
    commands?(): Record<string, Command> | Promise<Record<string, Command>>;
    /** Gets every persistent and transient event of the session once, in the form of the log or the wire, and the additional events of docs/extensions/api.md. */
    onEvent?(event: SessionEvent, ctx: Context): unknown;
    hooks?(): NativeHooks | Promise<NativeHooks>;
  }

  export interface SessionEvent {
    type: string;
    [field: string]: any;
  }

  /** Hooks of the Scorel API. Messages have the form of the log. */
  export interface NativeHooks {
    /** Before a tool runs. An error blocks the call. */
    beforeToolCall?(call: ToolCall, ctx: Context): Answer<ToolCallAnswer>;
    afterToolCall?(result: ToolResultEvent<LogBlock>, ctx: Context): Answer<ToolResultPatch<LogBlock>>;
    /** Before each model call. Returns a list, or undefined to leave it unchanged. The three hooks run in this order. */
    context?(messages: LogElement[], ctx: Context): Answer<LogMessageLike[]>;
    transformContext?(messages: LogElement[], ctx: Context): Answer<LogMessageLike[]>;
    convertToLlm?(messages: LogElement[], ctx: Context): Answer<LogMessageLike[]>;
    /** Before a message of the user is stored. */
    prompt?(input: InputFields<LogBlock>, ctx: Context): Answer<InputAnswer<LogBlock>>;
    beforeAgent?(start: { prompt: string; images?: LogBlock[]; systemPrompt: string }, ctx: Context): Answer<AgentStartAnswer<LogBlock>>;
    /** Before a turn ends. If it returns a text, the model gets it and the turn continues. */
    stop?(stop: StopFields, ctx: Context): Answer<string | { text?: string }>;
    beforeCompact?(
      compaction: { reason: CompactReason; customInstructions?: string; tokensBefore: number; messages: LogMessage[]; firstKeptEntryId?: string; previousSummary?: string },
      ctx: Context,
    ): Answer<{ cancel?: boolean; reason?: string; summary?: string; customInstructions?: string }>;
    beforeMove?(move: { kind: "rewind" | "branch"; targetId?: string; oldLeafId?: string }, ctx: Context): Answer<{ cancel?: boolean; reason?: string; label?: string }>;
    /** After each start. Returns files and folders of skills and templates that the extension brings along. */
    resources?(start: { cwd: string; reason: "startup" | "reload" }, ctx: Context): Answer<Resources>;
    /** Before the person goes to another session with /new or /resume. */
    beforeSwitch?(to: { reason: "new" | "resume"; targetSessionId?: string }, ctx: Context): Answer<{ cancel?: boolean; reason?: string }>;
    /** Before a command that a person runs in the project. An error keeps it from running. */
    userCommand?(command: UserCommand, ctx: Context): Answer<UserCommandAnswer>;
    /** Gets the payload of a request to a provider. An object that it returns replaces the payload. */
    beforeRequest?(payload: any, ctx: Context): Answer<object>;
  }

  /** Paths, absolute or from the extension's folder. */
  export interface Resources {
    /** Folders of skills, folders of one skill, or SKILL.md files. */
    skillPaths?: string[];
    /** Folders of templates, or .md files. */
    promptPaths?: string[];
  }

  /** A command that a person runs in the project, outside of the conversation. */
  export interface UserCommand {
    command: string;
    cwd: string;
    /** The model is not told of it. */
    excludeFromContext?: boolean;
  }

  export interface UserCommandAnswer {
    block?: boolean;
    reason?: string;
    /** Shown in place of the command, which does not run. */
    result?: { output: string; exitCode?: number; cancelled?: boolean };
  }

  /** Runs a command elsewhere. */
  export type UserCommandExec = (
    command: string,
    cwd: string,
    options: { onData(data: string | Uint8Array): void; signal?: AbortSignal; env?: Record<string, string | undefined> },
  ) => Promise<{ exitCode: number | null }>;

  export interface Context {
    readonly session: SessionView;
    readonly agent: Agent;
    /** The table [extensions.<id>] of config.toml. */
    readonly config: Record<string, unknown>;
    readonly logger: Logger;
    readonly ui: UI;
    exec: Exec;
    /** Aborted when the answer is no longer needed. */
    readonly signal: AbortSignal | undefined;
  }

  export interface SessionView {
    readonly id: string;
    readonly cwd: string;
    readonly projectRoot: string;
    /** The path of the log, for display; the file cannot be read. */
    readonly path: string | null;
    readonly name: string;
    readonly leafId: string | null;
    /** The conversation on the active path, with messages in the form of the log. */
    readonly entries: readonly LogEntry[];
    /** Appends a custom event and returns its id. Types of Scorel are refused. */
    append(type: string, data?: object): Promise<string>;
    setName(name: string): Promise<void>;
    setLabel(entryId: string, label: string | undefined): Promise<void>;
  }

  export interface Agent {
    readonly idle: boolean;
    readonly activeTools: string[];
    send(content: string | LogBlock[]): Promise<void>;
    steer(content: string | LogBlock[]): Promise<void>;
    followUp(content: string | LogBlock[]): Promise<void>;
    cancel(): Promise<void>;
    compact(instructions?: string): Promise<void>;
    /** Takes effect from the next turn on. */
    setActiveTools(names: string[]): Promise<void>;
    readonly model: {
      readonly current: Model | null;
      readonly thinkingLevel: string;
      list(): Promise<Model[]>;
      set(model: { provider: string; id: string }): Promise<boolean>;
      setThinkingLevel(level: string): Promise<void>;
      complete(
        context: { systemPrompt?: string; messages: LogMessage[] },
        options?: { model?: Model; apiKey?: string; maxTokens?: number; signal?: AbortSignal },
      ): Promise<LogMessage>;
    };
  }

  export interface Logger {
    debug(...parts: unknown[]): void;
    info(...parts: unknown[]): void;
    warn(...parts: unknown[]): void;
    error(...parts: unknown[]): void;
  }

  export interface Command {
    description?: string;
    argumentHint?: string;
    /** The command runs beside a turn and cannot append anything. Others wait for the next step boundary. */
    immediate?: boolean;
    /** Scorel shows the text or the status that it returns. */
    run(args: string[], ctx: CommandContext): CommandAnswer | Promise<CommandAnswer>;
    complete?(prefix: string): Completions | Promise<Completions>;
  }

  export interface CommandContext extends Context {
    readonly args: string[];
    readonly argsRaw: string;
  }

  // ------------------------------------------------------------------------------- Tools

  /** A tool. It fails by throwing; the model gets the text of the error. */
  export interface Tool<P = any, C = Context, B = LogBlock> {
    /** Letters, digits, _ and -, at most 64. */
    name: string;
    label?: string;
    description: string;
    /** A JSON Schema; Type creates one. */
    parameters?: TSchema<P>;
    /** Used by permission rules; the default is "exec". */
    kind?: "read" | "write" | "exec" | "net";
    /** Calls of one message may run concurrently. */
    parallel?: boolean;
    promptSnippet?: string;
    promptGuidelines?: string[];
    prepareArguments?(args: any): any;
    /** Draws the call in the terminal UI; nothing leaves it as it is. */
    renderCall?(args: any, theme: Theme, context: any): Component | undefined | void;
    /** Draws what came of the call; nothing leaves it as it is. */
    renderResult?(result: any, options: { expanded: boolean; isPartial: boolean }, theme: Theme, context: any): Component | undefined | void;
    execute(toolCallId: string, params: P, signal: AbortSignal | undefined, onUpdate: ToolUpdate<B> | undefined, ctx: C): ToolAnswer<B> | Promise<ToolAnswer<B>>;
  }

  export type AnyTool<C, B = LogBlock> = Tool<any, C, B>;
  export type ToolAnswer<B> = void | undefined | string | { content: string | B[]; details?: unknown; isError?: boolean; terminate?: boolean } | object;
  /** A string is appended to the shown output; content replaces it; process is only for people. */
  export type ToolUpdate<B> = (update: string | { content?: B[]; details?: unknown; process?: ProcessUpdate }) => void;

  export interface ProcessUpdate {
    message: string;
    operationId?: string;
    parentOperationId?: string;
    stage?: string;
    status?: "queued" | "started" | "running" | "completed" | "failed" | "cancelled" | "skipped";
    level?: "debug" | "info" | "warning" | "error";
    detail?: string;
    current?: number;
    total?: number;
    percent?: number;
    payload?: Record<string, string | number | boolean | null>;
  }

  // --------------------------------------------------- Hooks v2 and the pi extension API

  /** `export default function (pi: HookAPI)` */
  export interface HookAPI {
    on<E extends keyof Events>(event: E, handler: Handler<E>): void;
    command(
      name: string,
      options: {
        description?: string;
        argumentHint?: string;
        immediate?: boolean;
        handler(ctx: HookCommandContext): CommandAnswer | Promise<CommandAnswer>;
        complete?(prefix: string): Completions | Promise<Completions>;
      },
    ): void;
    exec: Exec;
    /** For messages between the extensions of a session. */
    readonly events: EventBus;
  }

  /** `export default function (pi: ExtensionAPI)` */
  export interface ExtensionAPI extends HookAPI {
    registerTool<P>(tool: Tool<P, ExtensionContext, Block>): void;
    registerCommand(
      name: string,
      options: {
        description?: string;
        argumentHint?: string;
        immediate?: boolean;
        handler(args: string, ctx: HookCommandContext): CommandAnswer | Promise<CommandAnswer>;
        getArgumentCompletions?(prefix: string): Completions | Promise<Completions>;
      },
    ): void;
    /** A key of the terminal UI's editor, such as alt+k or f5; elsewhere it is the command /shortcut:<key>. */
    registerShortcut(key: string, options: { description?: string; handler(ctx: HookCommandContext): unknown }): void;
    /** Its value is in [extensions.<id>] of config.toml. */
    registerFlag(name: string, options: { type: "boolean" | "string"; description?: string; default?: boolean | string }): void;
    getFlag(name: string): boolean | string | undefined;

    sendMessage(message: CustomMessage<Block>, options?: { deliverAs?: "steer" | "followUp" | "nextTurn"; triggerTurn?: boolean }): Promise<void>;
    sendUserMessage(content: string | Block[], options?: { deliverAs?: "steer" | "followUp" }): Promise<void>;
    appendEntry<T = unknown>(customType: string, data?: T): Promise<void>;
    setSessionName(name: string): Promise<void>;
    getSessionName(): string | undefined;
    setLabel(entryId: string, label: string | undefined): Promise<void>;

    getActiveTools(): string[];
    getAllTools(): ToolInfo[];
    setActiveTools(names: string[]): Promise<void>;
    getCommands(): { name: string; description?: string; source?: string; sourceInfo: { path: string } }[];
    setModel(model: { provider: string; id: string }): Promise<boolean>;
    getThinkingLevel(): string;
    setThinkingLevel(level: string): Promise<void>;

    /** Adds models of a server, which people choose as "name/id". Not in extensions of a project. */
    registerProvider(name: string, config: ProviderConfig): void;
    unregisterProvider(name: string): void;
    /** @deprecated Not supported: it throws. */
    registerVirtualModel(...args: unknown[]): never;
    /** Draws messages of this type in the terminal UI; nothing leaves one as it is. */
    registerMessageRenderer(
      customType: string,
      renderer: (message: { customType: string; content: any; display?: boolean; details?: any }, options: { expanded: boolean }, theme: Theme) => Component | undefined | void,
    ): void;
    /** Draws entries of appendEntry of this type in the terminal UI; nothing leaves one as it is. */
    registerEntryRenderer<T = any>(
      customType: string,
      renderer: (entry: { type: "custom"; id: string; timestamp: number; customType: string; data?: T }, options: { expanded: boolean; keyHint(action: string, text: string): string }, theme: Theme) => Component | undefined | void,
    ): void;
  }

  export type ProviderAPI = "anthropic-messages" | "openai-completions" | "openai-responses" | "google-generative-ai";

  export interface ProviderConfig {
    baseUrl?: string;
    api?: ProviderAPI;
    /** The name of the environment variable with the key, which only the host reads. */
    apiKey?: string;
    headers?: Record<string, string>;
    models: {
      id: string;
      name?: string;
      api?: ProviderAPI;
      baseUrl?: string;
      reasoning?: boolean;
      input?: ("text" | "image")[];
      /** In tokens. */
      contextWindow?: number;
      maxTokens?: number;
      /** In US dollars per million tokens. */
      cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
    }[];
  }

  export interface ToolInfo {
    name: string;
    description: string;
    parameters?: object;
  }

  /** The context of handlers. Its members throw when they are used after the extension was unloaded. */
  export interface ExtensionContext {
    readonly ui: UI;
    readonly hasUI: boolean;
    readonly mode: "tui" | "rpc" | "json" | "print";
    readonly cwd: string;
    readonly signal: AbortSignal | undefined;
    exec: Exec;

    readonly model: Model | null;
    readonly thinkingLevel: string;
    readonly entries: readonly SessionEntry[];
    readonly sessionFile: string | null;
    findModel(provider: string, id: string): Model | null;
    availableModels(): Promise<Model[]>;
    /** Returns the key to extensions of the user. Extensions of a project get a handle that only complete accepts. */
    resolveApiKey(model: Model): Promise<string | undefined>;
    /** Appends an entry to the session. Types of Scorel are refused. */
    saveEntry(entry: { type: string; [field: string]: unknown }): Promise<void>;
    rebuildContext(): Promise<void>;

    readonly sessionManager: SessionManager;
    readonly modelRegistry: ModelRegistry;
    isIdle(): boolean;
    hasPendingMessages(): boolean;
    isProjectTrusted(): boolean;
    abort(): void;
    compact(options?: { customInstructions?: string; onComplete?(result: object): void; onError?(error: Error): void }): void;
    getContextUsage(): { tokens: number; contextWindow: number; percent: number } | undefined;
    getSystemPrompt(): string;
    /** Only in commands; in a handler of an event it throws. */
    shutdown(): void;
  }

  export interface MoveOptions {
    /** Ignored: a session has no parent. */
    parentSession?: string;
    /** Says what the terminal takes along to the other session. */
    withSession?(ctx: {
      readonly ui: Pick<ExtensionContext["ui"], "setEditorText" | "pasteToEditor" | "notify">;
      readonly hasUI: boolean;
      readonly mode: string;
      readonly cwd: string;
      sendUserMessage(text: string | object[]): Promise<void>;
    }): void | Promise<void>;
  }

  export interface HookCommandContext extends ExtensionContext {
    readonly args: string[];
    readonly argsRaw: string;
    setModel(model: { provider: string; id: string }): Promise<boolean>;
    setThinkingLevel(level: string): Promise<void>;
    /** Throws while a turn runs, because the turn waits for the command. */
    waitForIdle(): Promise<void>;
    /** Makes a session, which the terminal of the command shows when the command has ended. */
    newSession(options?: MoveOptions): Promise<{ cancelled: boolean }>;
    /** Copies the session: before a message of a person, or with position "at" up to and with the entry. */
    fork(entryId: string, options?: MoveOptions & { position?: "before" | "at" }): Promise<{ cancelled: boolean }>;
    /** Shows another session, named by its id or the path of its log. */
    switchSession(session: string, options?: MoveOptions): Promise<{ cancelled: boolean }>;
    /** Ends the terminal in which the command was typed, when the command has ended. */
    shutdown(): void;
    /** @deprecated Not supported: it throws. */
    navigateTree(targetId: string, options?: { label?: string }): Promise<{ cancelled: boolean }>;
    /** Reloads all extensions when the command has ended. */
    reload(): Promise<void>;
  }

  export type ExtensionCommandContext = HookCommandContext;
  export type HookEventContext = ExtensionContext;
  export type HookContext = ExtensionContext;
  export type ToolDefinition<P = any> = Tool<P, ExtensionContext, Block>;

  export interface SessionManager {
    getEntries(): PiEntry[];
    getBranch(fromId?: string): PiEntry[];
    buildContextEntries(): PiEntry[];
    getEntry(id: string): PiEntry | undefined;
    getLeafId(): string | null;
    getLeafEntry(): PiEntry | undefined;
    getSessionId(): string;
    getSessionFile(): string | undefined;
    getCwd(): string;
    getSessionName(): string | undefined;
    getHeader(): { type: "session"; id: string; cwd: string };
    /** Only for labels that this extension has set. */
    getLabel(id: string): string | undefined;
    /** @deprecated Not supported: it throws. */
    getTree(): never;
    /** @deprecated Not supported: it throws. */
    getChildren(id: string): never;
  }

  export interface ModelRegistry {
    find(provider: string, id: string): Model | undefined;
    getAvailable(): Model[];
    getAll(): Model[];
    hasConfiguredAuth(model: Model): boolean;
    isUsingOAuth(model: Model): boolean;
    getApiKey(model: Model): Promise<string | undefined>;
    getApiKeyForProvider(provider: string): Promise<string | undefined>;
    getApiKeyAndHeaders(model: Model): Promise<{ ok: true; apiKey: string; headers: Record<string, string> } | { ok: false; error: string }>;
    refresh(): Promise<void>;
    complete(model: Model | null, context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
    completeSimple(model: Model | null, context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
    stream(model: Model | null, context: ModelContext, options?: CompleteOptions): MessageStream;
    streamSimple(model: Model | null, context: ModelContext, options?: CompleteOptions): MessageStream;
    /** @deprecated Not supported: it throws. */
    findOfType(...args: unknown[]): never;
    /** @deprecated Not supported: it throws. */
    classify(...args: unknown[]): never;
  }

  /** The answer of a model as events, which come when it is whole. */
  export interface MessageStream extends AsyncIterable<any> {
    /** Returns the answer; of a failed one stopReason is "error" or "aborted". */
    result(): Promise<AssistantMessage>;
  }

  export interface EventBus {
    /** Returns a function that removes the handler. */
    on(channel: string, handler: (data: any) => unknown): () => void;
    emit(channel: string, data?: unknown): void;
  }

  export type Handler<E extends keyof Events> = (event: Events[E][0], ctx: ExtensionContext) => Answer<Events[E][1]>;

  /** Payload and answer of each event. Where the answer is Ignored, the return value has no effect. */
  export interface Events {
    tool_call: [{ type: "tool_call" } & ToolCall, ToolCallAnswer];
    tool_result: [{ type: "tool_result" } & ToolResultEvent<Block>, ToolResultPatch<Block>];
    context: [ContextEvent, { messages: MessageLike[] }];
    input: [{ type: "input" } & InputFields<Block>, InputAnswer<Block>];
    before_agent_start: [
      { type: "before_agent_start"; prompt: string; images?: Block[]; systemPrompt: string; systemPromptOptions: { cwd: string; selectedTools: string[]; sections: Record<string, string> } },
      AgentStartAnswer<Block>,
    ];
    stop: [{ type: "stop" } & StopFields, { text?: string }];
    session_before_compact: [
      BeforeCompactEvent,
      { cancel?: boolean; reason?: string; customInstructions?: string; compaction?: { summary: string; firstKeptEntryId?: string; tokensBefore?: number; details?: unknown } },
    ];
    session_before_tree: [
      { type: "session_before_tree"; preparation: { targetId: string | null; oldLeafId: string | null; kind: "rewind" | "branch" }; signal: AbortSignal | undefined },
      { cancel?: boolean; reason?: string; label?: string },
    ];
    session_before_switch: [
      { type: "session_before_switch"; reason: "new" | "resume"; targetSessionId?: string; signal: AbortSignal | undefined },
      { cancel?: boolean; reason?: string },
    ];
    session_before_fork: [{ type: "session_before_fork"; entryId: string; signal: AbortSignal | undefined }, { cancel?: boolean; reason?: string }];
    resources_discover: [{ type: "resources_discover"; cwd: string; reason: "startup" | "reload" }, Resources];
    user_bash: [UserCommand & { type: "user_bash" }, UserCommandAnswer | { operations: { exec: UserCommandExec } }];
    before_provider_request: [{ type: "before_provider_request"; payload: any }, object];

    session_start: [{ type: "session_start"; reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string }, Ignored];
    session_shutdown: [{ type: "session_shutdown"; reason: "quit" | "reload" | "new" | "resume" | "fork" }, Ignored];
    session_info_changed: [{ type: "session_info_changed"; name?: string }, Ignored];
    session_compact: [{ type: "session_compact"; compactionEntry: { type: "compaction"; id: string; summary: string; tokensBefore: number; timestamp: number } }, Ignored];
    session_tree: [{ type: "session_tree"; newLeafId: string; oldLeafId: string }, Ignored];
    agent_start: [{ type: "agent_start" }, Ignored];
    agent_end: [{ type: "agent_end"; messages: Message[] }, Ignored];
    agent_settled: [{ type: "agent_settled"; reason: "completed" | "cancelled" | "error"; terminal: "completed" | "max_steps" | "max_tokens" | "prompt_too_long" | "cancelled" | "refused" | "model_error" | "hook_stopped" | "budget" | "storage_error" | "loop" | "internal_error" }, Ignored];
    turn_start: [{ type: "turn_start"; turnIndex: number; timestamp?: number }, Ignored];
    turn_end: [{ type: "turn_end"; turnIndex: number; message: Message; toolResults: ToolResultMessage[] }, Ignored];
    message_start: [{ type: "message_start"; messageId: string; message: Message }, Ignored];
    message_update: [
      { type: "message_update"; messageId: string; assistantMessageEvent: { type: "text_delta" | "thinking_delta" | "toolcall_delta"; contentIndex: number; delta: string } },
      Ignored,
    ];
    message_end: [{ type: "message_end"; messageId: string; message: Message }, Ignored];
    tool_execution_start: [{ type: "tool_execution_start"; toolCallId: string; toolName: string; args: any }, Ignored];
    tool_execution_update: [{ type: "tool_execution_update"; toolCallId: string; toolName: string; args: any; partialResult: any }, Ignored];
    tool_execution_end: [{ type: "tool_execution_end"; toolCallId: string; toolName: string; args: any; durationMs: number; isError: boolean }, Ignored];
    after_provider_response: [{ type: "after_provider_response"; status: number; headers: Record<string, string> }, Ignored];
    model_select: [{ type: "model_select"; model: Model; previousModel?: Model; source: "set" }, Ignored];
    thinking_level_select: [{ type: "thinking_level_select"; level: string; source: "set" }, Ignored];
    ui_prompt_start: [{ type: "ui_prompt_start"; id: string; kind: string }, Ignored];
    ui_prompt_end: [{ type: "ui_prompt_end"; id: string }, Ignored];
  }

  export type Ignored = object | string | number | boolean;

  export interface ContextEvent {
    type: "context";
    entries: readonly SessionEntry[];
    /** Each element is the message itself. Writing to one makes it a new message. */
    messages: ContextElement[];
  }

  /** A message of a list; entryIndex is null if no entry holds it. */
  export type ContextElement = Message & { readonly message: Message; readonly entryIndex: number | null };
  export interface ContextMessage {
    message: Message;
    entryIndex: number | null;
  }
  export type MessageLike = Message | ContextMessage;

  export interface BeforeCompactEvent {
    type: "session_before_compact";
    preparation: {
      firstKeptEntryId?: string;
      messagesToSummarize: Message[];
      turnPrefixMessages: Message[];
      isSplitTurn: boolean;
      tokensBefore: number;
      previousSummary?: string;
    };
    branchEntries: PiEntry[];
    customInstructions?: string;
    reason: CompactReason;
    willRetry: boolean;
    signal: AbortSignal;
  }

  // --------------------------------------------------------------- Types shared by hooks

  /** undefined, or no return value, changes nothing. */
  export type Answer<T> = T | void | undefined | null | Promise<T | void | undefined | null>;
  export type CompactReason = "manual" | "threshold" | "overflow";

  export interface ToolCall {
    toolName: string;
    toolCallId: string;
    /** Writing to it changes the call. */
    input: Record<string, any>;
  }

  export interface ToolCallAnswer {
    block?: boolean;
    /** "allow" skips the permission question, but only from extensions of the user. */
    decision?: "allow" | "ask" | "deny";
    /** For the model. */
    reason?: string;
    input?: object;
    /** Answers the call without running it. */
    result?: unknown;
  }

  export interface ToolResultEvent<B> {
    toolName: string;
    toolCallId: string;
    input: Record<string, any>;
    content: B[];
    details?: any;
    isError: boolean;
  }

  export interface ToolResultPatch<B> {
    content?: string | B[];
    details?: unknown;
    isError?: boolean;
  }

  export interface InputFields<B> {
    text: string;
    images?: B[];
    source: string;
    streamingBehavior?: "steer" | "followUp";
  }

  export interface InputAnswer<B> {
    action: "continue" | "transform" | "handled" | "block";
    text?: string;
    images?: B[];
    /** With "block": shown to the person. */
    reason?: string;
  }

  export interface CustomMessage<B> {
    customType: string;
    content: string | B[];
    /** false hides the message from people. */
    display?: boolean;
    details?: unknown;
  }

  export interface AgentStartAnswer<B> {
    message?: CustomMessage<B>;
    /** Applies to this run, and invalidates the provider's cache. */
    systemPrompt?: string;
  }

  export interface StopFields {
    /** How many times in a row a hook has kept this turn running. */
    blocked: number;
    subagent?: boolean;
    text: string;
  }

  export type CommandAnswer = void | undefined | string | { status?: string };
  export type Completions = (string | { value: string; label?: string; description?: string })[] | null | undefined;

  // ------------------------------------------------------------------- Dialogs, programs

  export interface DialogOptions {
    /** Milliseconds. */
    timeout?: number;
    signal?: AbortSignal;
  }

  /** When no client is attached, a dialog returns undefined at once, and confirm returns false. */
  export interface UI {
    select(title: string, options: (string | { label: string; description?: string })[], opts?: DialogOptions): Promise<string | undefined>;
    confirm(title: string, message?: string, opts?: DialogOptions): Promise<boolean>;
    input(title: string, placeholder?: string, opts?: DialogOptions): Promise<string | undefined>;
    editor(title: string, prefill?: string, opts?: DialogOptions): Promise<string | undefined>;
    /** Asks for the fields of a JSON Schema: texts, numbers, booleans and choices. Returns false when the person declined. */
    form(title: string, schema: object, opts?: DialogOptions & { message?: string }): Promise<Record<string, unknown> | false | undefined>;
    /** Asks the person to open an address. Scorel shows it and never opens it itself. Returns false when the person declined. */
    url(title: string, url: string, opts?: DialogOptions & { message?: string }): Promise<boolean | undefined>;
    notify(message: string, level?: "info" | "warning" | "error"): void;
    setStatus(key: string, text: string | undefined): void;
    setWidget(key: string, lines: string[] | string | undefined, opts?: { placement?: "aboveEditor" | "belowEditor" }): void;
    setTitle(title: string | undefined): void;
    setEditorText(text: string): void;
    pasteToEditor(text: string): void;
    /** The text that the extension itself put there. */
    getEditorText(): string;
    setWorkingMessage(text?: string): void;
    /** Returns texts without colours, because lines go to many kinds of clients. */
    readonly theme: Theme;
    getTheme(name: string): Theme;
    getAllThemes(): { name: string }[];
    /** Has the terminal UIs of the session take a theme of theirs, by its name, as long as the extension runs. */
    setTheme(name: string | { name?: string }): { success: boolean; error?: string };
    /** Shows what the factory returns until it calls done. Returns undefined when a person closes it, and when nobody is there. */
    custom<T = unknown>(
      factory: (tui: Screen, theme: Theme, keybindings: Keybindings, done: (value: T) => void) => Component | Promise<Component>,
      options?: { title?: string; overlay?: boolean; onHandle?(handle: { hide(): void; isHidden(): boolean; isFocused(): boolean; focus(): void }): void },
    ): Promise<T | undefined>;
    /** Draws lines above the status line, at most 10; undefined removes them. */
    setFooter(factory: ((tui: Screen, theme: Theme, footerData: FooterData) => Component) | undefined): void;
    /** Draws lines above the editor, at most 10; undefined removes them. */
    setHeader(factory: ((tui: Screen, theme: Theme, footerData: FooterData) => Component) | undefined): void;
    /** Has a component take the keys of the editor and draw it; undefined brings the plain one back. */
    setEditorComponent(factory: ((tui: Screen, theme: any, keybindings: any) => Component) | undefined): void;
    getEditorComponent(): ((tui: Screen, theme: any, keybindings: any) => Component) | undefined;
    /** @deprecated Not supported: it throws. */
    onTerminalInput(handler: unknown): never;
    /** Sets the pictures that terminal UIs show while a turn runs; no pictures hide it, undefined brings the usual ones back. */
    setWorkingIndicator(options?: { frames?: string[]; intervalMs?: number }): void;
    /** Shows or hides the line of terminal UIs that says that a turn runs. */
    setWorkingVisible(visible: boolean): void;
    /** Sets the heading of folded thoughts in terminal UIs. */
    setHiddenThinkingLabel(label?: string): void;
    /** Offers something for words that begin with a sign such as #; applyCompletion is not called. */
    addAutocompleteProvider(factory: (current: any) => {
      getSuggestions(lines: string[], cursorLine: number, cursorCol: number, options: { signal: AbortSignal; force?: boolean }): Promise<{ items: { value: string; label?: string; description?: string }[]; prefix: string } | null>;
    }): void;
  }

  /** What a footer or header gets beside the theme. */
  export interface FooterData {
    /** Always null: the status line has the branch. */
    getGitBranch(): string | null;
    onBranchChange(listener: () => void): () => void;
    /** What setStatus shows of this extension. */
    getExtensionStatuses(): Map<string, string>;
    getAvailableProviderCount(): number;
  }

  /** What an extension draws itself. */
  export interface Component {
    /** At most 200 lines; what is wider than the screen is cut. */
    render(width: number): string[];
    /** One key as a terminal sends it, or one paste between its brackets. */
    handleInput?(data: string): void;
    /** The width has changed. */
    invalidate?(): void;
    dispose?(): void;
  }

  export interface Screen {
    /** Draws the component again, at most 30 times a second. */
    requestRender(): void;
    /** Sends keys to a part of the component. */
    setFocus(component: { handleInput?(data: string): void } | null): void;
    readonly terminal: { readonly columns: number; readonly rows: number; readonly kittyProtocolActive: boolean };
    hideOverlay(): void;
  }

  export interface Keybindings {
    /** Reports whether a key does what a name says, such as "tui.select.confirm". */
    matches(data: string, name: string): boolean;
    getKeys(name: string): string[];
  }

  export interface Theme {
    readonly name: string;
    fg(color: string, text: string): string;
    bg(color: string, text: string): string;
    bold(text: string): string;
    dim(text: string): string;
    italic(text: string): string;
    underline(text: string): string;
    inverse(text: string): string;
    strikethrough(text: string): string;
    getFgAnsi(color: string): string;
    getBgAnsi(color: string): string;
    getColorMode(): "truecolor" | "256color";
    getThinkingBorderColor(level: string): (text: string) => string;
    getBashModeBorderColor(): (text: string) => string;
  }

  /** Runs a program without a shell and waits for its end. */
  export type Exec = (
    command: string,
    args?: string[],
    options?: { cwd?: string; /** Milliseconds. */ timeout?: number; signal?: AbortSignal; stdin?: string },
  ) => Promise<{ stdout: string; stderr: string; code: number; killed: boolean }>;

  // ------------------------------------------------------------------------------ Models

  export interface Model {
    id: string;
    name: string;
    provider: string;
    api: string;
    reasoning: boolean;
    input: ("text" | "image")[];
    contextWindow: number;
    maxTokens: number;
  }

  export interface ModelContext {
    systemPrompt?: string;
    messages: Message[];
  }

  export interface CompleteOptions {
    apiKey?: string;
    maxTokens?: number;
    signal?: AbortSignal;
    /** @deprecated Not used: the host knows the headers of its models. */
    headers?: Record<string, string>;
  }

  // --------------------------------------------------- Messages and entries in pi's form

  export type TextBlock = { type: "text"; text: string };
  export type ThinkingBlock = { type: "thinking"; thinking: string };
  /** A picture of the session has the hash of its bytes in blob and no data; a new one has data in base64. */
  export type ImageBlock = { type: "image"; mimeType: string; data: string; blob?: string };
  export type ToolCallBlock = { type: "toolCall"; id: string; name: string; arguments: Record<string, any> };
  export type Block = TextBlock | ImageBlock;

  export interface UserMessage {
    role: "user";
    content: string | Block[];
    timestamp?: number;
  }

  export interface AssistantMessage {
    role: "assistant";
    content: (TextBlock | ThinkingBlock | ToolCallBlock)[];
    provider?: string;
    model?: string;
    stopReason?: "stop" | "toolUse" | "length" | "aborted" | "error";
    errorMessage?: string;
    usage?: { input: number; output: number; cacheRead: number; cacheWrite: number; totalTokens: number; cost: { total: number } };
    timestamp?: number;
  }

  export interface ToolResultMessage {
    role: "toolResult";
    toolCallId: string;
    toolName: string;
    content: Block[];
    details?: any;
    isError?: boolean;
    timestamp?: number;
  }

  export type Message = UserMessage | AssistantMessage | ToolResultMessage;
  export type AppMessage = Message;
  export type AgentMessage = Message;

  /** A custom type has a prefix: "stack_pop", "myextension:note". */
  export type CustomType = `${string}_${string}` | `${string}:${string}`;

  interface EntryBase {
    id: string;
    parentId?: string | null;
    /** Unix milliseconds. */
    timestamp: number;
  }

  export type MessageEntry = EntryBase & { type: "message"; message: Message };
  export type CompactionEntry = EntryBase & { type: "compaction"; summary: string; firstKeptEntryIndex: number; tokensBefore: number };
  /** An entry that an extension saved, with its fields beside the type. */
  export type SavedEntry = EntryBase & { type: CustomType; [field: string]: unknown };
  export type SessionEntry = MessageEntry | CompactionEntry | SavedEntry;

  /** Entries as sessionManager shows them. */
  export type PiEntry =
    | MessageEntry
    | (CompactionEntry & { firstKeptEntryId?: string })
    | (EntryBase & { type: "custom"; customType: string; data: unknown })
    | (EntryBase & { type: "branch_summary"; summary: string });

  // ---------------------------------------------- Messages and entries in the log's form

  export type LogBlock =
    | { type: "text"; text: string }
    | { type: "thinking"; thinking: string; signature?: string; redacted?: boolean }
    /** A picture of the session has the hash of its bytes in blob; a new one has data in base64. */
    | { type: "image"; mediaType: string; blob?: string; data?: string }
    | { type: "file"; name: string; mediaType: string; blob: string }
    | { type: "tool_use"; id: string; name: string; input: Record<string, any> };

  export interface LogMessage {
    role: "user" | "assistant" | "tool_result";
    content: string | LogBlock[];
    toolCallId?: string;
    toolName?: string;
    isError?: boolean;
    details?: any;
    provider?: string;
    model?: string;
    stopReason?: string;
    usage?: Record<string, number>;
  }

  export type LogElement = LogMessage & { readonly message: LogMessage; readonly entryIndex: number | null };
  export type LogMessageLike = LogMessage | { message: LogMessage; entryIndex: number | null };
  export type LogEntry = (EntryBase & { type: "message"; message: LogMessage }) | CompactionEntry | SavedEntry;

  // ----------------------------------------------------------------------------- Schemas

  export interface TSchema<T = any> {
    /** Exists only for the types. */
    readonly static?: T;
    [keyword: string]: any;
  }
  export interface TOptional<T> extends TSchema<T> {
    readonly "~optional": true;
  }
  export type Static<S extends TSchema> = S extends TSchema<infer T> ? T : never;

  type Properties = Record<string, TSchema>;
  type ObjectOf<P extends Properties> = {
    [K in keyof P as P[K] extends TOptional<any> ? never : K]: Static<P[K]>;
  } & {
    [K in keyof P as P[K] extends TOptional<any> ? K : never]?: Static<P[K]>;
  };
  type Options = Record<string, unknown>;

  export const Type: {
    Any(options?: Options): TSchema<any>;
    Unknown(options?: Options): TSchema<unknown>;
    Never(options?: Options): TSchema<never>;
    Null(options?: Options): TSchema<null>;
    String(options?: Options): TSchema<string>;
    Number(options?: Options): TSchema<number>;
    Integer(options?: Options): TSchema<number>;
    Boolean(options?: Options): TSchema<boolean>;
    RegExp(pattern: string | RegExp, options?: Options): TSchema<string>;
    Literal<const V extends string | number | boolean | null>(value: V, options?: Options): TSchema<V>;
    Enum<E extends Record<string, string | number>>(values: E, options?: Options): TSchema<E[keyof E]>;
    Union<S extends TSchema[]>(schemas: [...S], options?: Options): TSchema<Static<S[number]>>;
    Intersect(schemas: TSchema[], options?: Options): TSchema<any>;
    Not(schema: TSchema, options?: Options): TSchema<unknown>;
    Array<S extends TSchema>(items: S, options?: Options): TSchema<Static<S>[]>;
    Tuple<S extends TSchema[]>(items: [...S], options?: Options): TSchema<{ [K in keyof S]: S[K] extends TSchema ? Static<S[K]> : never }>;
    Object<P extends Properties>(properties: P, options?: Options): TSchema<ObjectOf<P>>;
    Record<K extends TSchema, V extends TSchema>(key: K, value: V, options?: Options): TSchema<Record<string, Static<V>>>;
    Optional<S extends TSchema>(schema: S): TOptional<Static<S>>;
    Partial<S extends TSchema>(schema: S, options?: Options): TSchema<Partial<Static<S>>>;
    Required<S extends TSchema>(schema: S, options?: Options): TSchema<Required<Static<S>>>;
    Readonly<S extends TSchema>(schema: S): S;
    ReadonlyOptional<S extends TSchema>(schema: S): TOptional<Static<S>>;
    Pick<S extends TSchema, K extends keyof Static<S>>(schema: S, keys: K[], options?: Options): TSchema<Pick<Static<S>, K>>;
    Omit<S extends TSchema, K extends keyof Static<S>>(schema: S, keys: K[], options?: Options): TSchema<Omit<Static<S>, K>>;
    Composite(schemas: TSchema[], options?: Options): TSchema<any>;
    KeyOf<S extends TSchema>(schema: S, options?: Options): TSchema<keyof Static<S>>;
    Unsafe<T>(schema: Options): TSchema<T>;
  };

  /** An enumeration in a form that every provider accepts. */
  export function StringEnum<const V extends readonly string[]>(values: V, options?: Options): TSchema<V[number]>;
}

declare module "@sinclair/typebox" {
  export { Type, type Static, type TSchema, type TOptional } from "scorel";
}

declare module "typebox" {
  export { Type, type Static, type TSchema, type TOptional } from "scorel";
}

declare module "@mariozechner/pi-ai" {
  import type { AssistantMessage, CompleteOptions, Model, ModelContext } from "scorel";
  export { Type, StringEnum, type Static, type TSchema, type Model, type Message, type UserMessage, type AssistantMessage, type ToolResultMessage } from "scorel";
  /** Asks a model once. It throws when the model fails or signal is aborted. */
  export function complete(model: Model | null, context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
  export function completeSimple(model: Model | null, context: ModelContext, options?: CompleteOptions): Promise<AssistantMessage>;
  export function getModel(provider: string, id: string): Model;
  export function getModels(provider?: string): Model[];
  export function getProviders(): string[];
  export function uuidv7(): string;
  export function stream(model: Model | null, context: ModelContext, options?: CompleteOptions): MessageStream;
  export function streamSimple(model: Model | null, context: ModelContext, options?: CompleteOptions): MessageStream;
}

declare module "@mariozechner/pi-coding-agent" {
  import type { Block, Message, Tool, TSchema } from "scorel";
  import { Component, Container, Editor, type EditorOptions, type EditorTheme, type KeybindingsManager, type MarkdownTheme, type SelectListTheme, type SettingsListTheme } from "@mariozechner/pi-tui";
  export type {
    AgentMessage, AppMessage, ContextEvent, ContextMessage, ExtensionAPI, ExtensionCommandContext, ExtensionContext, HookAPI, HookCommandContext,
    HookContext, HookEventContext, SessionEntry, SessionManager, Theme, ToolDefinition, ToolInfo,
  } from "scorel";

  export type { KeybindingsManager } from "@mariozechner/pi-tui";

  export interface TruncationResult {
    content: string;
    truncated: boolean;
    truncatedBy: "lines" | "bytes" | null;
    totalLines: number;
    totalBytes: number;
    outputLines: number;
    outputBytes: number;
    lastLinePartial: boolean;
    firstLineExceedsLimit: boolean;
    maxLines: number;
    maxBytes: number;
  }
  export const DEFAULT_MAX_LINES: number;
  export const DEFAULT_MAX_BYTES: number;
  export const GREP_MAX_LINE_LENGTH: number;
  export const CONFIG_DIR_NAME: string;
  /** The folder ~/.scorel. */
  export function getAgentDir(): string;
  export function truncateHead(text: string, options?: { maxLines?: number; maxBytes?: number }): TruncationResult;
  export function truncateTail(text: string, options?: { maxLines?: number; maxBytes?: number }): TruncationResult;
  export function truncateLine(line: string, max?: number): { text: string; wasTruncated: boolean };
  export function formatSize(bytes: number): string;
  export function formatReadLineRange(offset?: unknown, limit?: unknown): string;
  export function convertToLlm(messages: Message[]): Message[];
  export function serializeConversation(messages: Message[]): string;
  export function withFileMutationQueue<T>(path: string, fn: () => Promise<T>): Promise<T>;
  export function defineTool<T extends Tool<any, any, any>>(tool: T): T;
  /** Returns the fields of a Markdown file, and the text after them. */
  export function parseFrontmatter<T extends Record<string, any> = Record<string, any>>(content: string): { frontmatter: T; body: string };
  export function stripFrontmatter(content: string): string;
  /** A built-in tool, for a tool of the extension that replaces it. execute makes the host run a call, once, with the input that the permission rules have checked. */
  export type BuiltinTool = Tool<any, any, Block> & { parameters: TSchema<any>; execute(toolCallId: string, params: any, signal?: AbortSignal, onUpdate?: any, ctx?: any): Promise<{ content: Block[]; details?: any; isError?: boolean }> };
  export function createReadTool(cwd?: string, options?: unknown): BuiltinTool;
  export function createBashTool(cwd?: string, options?: unknown): BuiltinTool;
  export function createEditTool(cwd?: string, options?: unknown): BuiltinTool;
  export function createWriteTool(cwd?: string, options?: unknown): BuiltinTool;
  export function createGrepTool(cwd?: string, options?: unknown): BuiltinTool;
  export function createFindTool(cwd?: string, options?: unknown): BuiltinTool;
  /** @deprecated Not supported: it has no tool to run. */
  export function createLsTool(cwd?: string, options?: unknown): BuiltinTool;
  export function createReadToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  export function createBashToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  export function createEditToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  export function createWriteToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  export function createGrepToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  export function createFindToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  /** @deprecated Not supported: it has no tool to run. */
  export function createLsToolDefinition(cwd?: string, options?: unknown): BuiltinTool;
  /** read, bash, edit and write. */
  export function createCodingTools(cwd?: string, options?: unknown): BuiltinTool[];
  /** read, grep and find. */
  export function createReadOnlyTools(cwd?: string, options?: unknown): BuiltinTool[];
  export function isToolCallEventType<N extends string, I = Record<string, any>>(name: N, event: { toolName: string }): event is { toolName: N; toolCallId: string; input: I };
  export function isBashToolResult(event: { toolName: string }): boolean;
  export function isReadToolResult(event: { toolName: string }): boolean;
  export function isEditToolResult(event: { toolName: string }): boolean;
  export function isWriteToolResult(event: { toolName: string }): boolean;
  export function isGrepToolResult(event: { toolName: string }): boolean;
  export function isFindToolResult(event: { toolName: string }): boolean;
  export function isLsToolResult(event: { toolName: string }): boolean;
  /** The version of Scorel. */
  export const VERSION: string;
  export function getMarkdownTheme(): MarkdownTheme;
  export function getSelectListTheme(): SelectListTheme;
  export function getSettingsListTheme(): SettingsListTheme;
  /** Returns the keys of a key binding with what they do, in colours. */
  export function keyHint(keybinding: string, description: string): string;
  export function rawKeyHint(keys: string, description: string): string;
  /** Returns the keys of a key binding, as "escape/ctrl+c". */
  export function keyText(keybinding: string): string;
  export function truncateToVisualLines(text: string, maxVisualLines: number, width: number, paddingX?: number): { visualLines: string[]; skippedCount: number };
  /** A line across the whole width. */
  export class DynamicBorder extends Component {
    constructor(color?: (text: string) => string);
    render(width: number): string[];
    invalidate(): void;
  }
  /** A loader between two lines. */
  export class BorderedLoader extends Container {
    constructor(tui: unknown, theme?: import("scorel").Theme, message?: string, options?: { cancellable?: boolean });
    readonly signal: AbortSignal;
    onAbort?: () => void;
    handleInput(data: string): void;
    dispose(): void;
  }
  /** An editor whose keys for the program go to handlers. */
  export class CustomEditor extends Editor {
    constructor(tui: unknown, theme?: EditorTheme, keybindings?: KeybindingsManager, options?: EditorOptions);
    actionHandlers: Map<string, () => void>;
    onEscape?: () => void;
    onCtrlD?: () => void;
    onPasteImage?: () => void;
    onExtensionShortcut?: (data: string) => boolean;
    onAction(action: string, handler: () => void): void;
  }
}

declare module "@mariozechner/pi-tui" {
  type Paint = (text: string) => string;

  /** What draws lines: none of them is wider than width, in cells. */
  export interface Component {
    render(width: number): string[];
    /** A key or a paste, as a terminal sends it. */
    handleInput?(data: string): void;
    wantsKeyRelease?: boolean;
    invalidate(): void;
    dispose?(): void;
  }
  export class Component {}
  export interface Focusable { focused: boolean }
  export class Container extends Component {
    children: Component[];
    addChild(component: Component): void;
    removeChild(component: Component): void;
    clear(): void;
  }
  export class Box extends Container {
    constructor(paddingX?: number, paddingY?: number, bgFn?: Paint);
    setBgFn(bgFn?: Paint): void;
  }
  export class Text extends Component {
    constructor(text?: string, paddingX?: number, paddingY?: number, customBgFn?: Paint);
    setText(text: string): void;
    setCustomBgFn(customBgFn?: Paint): void;
  }
  export class TruncatedText extends Component {
    constructor(text: string, paddingX?: number, paddingY?: number);
    setText(text: string): void;
  }
  export class Spacer extends Component {
    constructor(lines?: number);
    setLines(lines: number): void;
  }
  export interface MarkdownTheme {
    heading: Paint; link: Paint; linkUrl: Paint; code: Paint; codeBlock: Paint; codeBlockBorder: Paint; quote: Paint; quoteBorder: Paint;
    hr: Paint; listBullet: Paint; bold: Paint; italic: Paint; strikethrough: Paint; underline: Paint;
    /** Not used: the terminal colours code itself. */
    highlightCode?: (code: string, lang?: string) => string[];
  }
  export interface DefaultTextStyle { color?: Paint; bgColor?: Paint; bold?: boolean; italic?: boolean; strikethrough?: boolean; underline?: boolean }
  export class Markdown extends Text {
    constructor(text: string, paddingX?: number, paddingY?: number, theme?: MarkdownTheme, defaultTextStyle?: DefaultTextStyle);
  }
  /** A line that names the picture. */
  export class Image extends Component {
    constructor(base64Data: string, mimeType: string, theme?: { fallbackColor?: Paint }, options?: { filename?: string; maxWidthCells?: number; maxHeightCells?: number; imageId?: number }, dimensions?: { widthPx: number; heightPx: number });
    getImageId(): number | undefined;
  }
  export interface LoaderIndicatorOptions { frames?: string[]; /** Milliseconds. */ intervalMs?: number }
  export class Loader extends Text {
    constructor(tui: unknown, spinnerColorFn?: Paint, messageColorFn?: Paint, message?: string, indicator?: LoaderIndicatorOptions);
    start(): void;
    stop(): void;
    setMessage(message: string): void;
    setIndicator(indicator?: LoaderIndicatorOptions): void;
    dispose(): void;
  }
  export class CancellableLoader extends Loader {
    onAbort?: () => void;
    readonly signal: AbortSignal;
    readonly aborted: boolean;
    handleInput(data: string): void;
  }
  export interface SelectItem { value: string; label: string; description?: string }
  export interface SelectListTheme { selectedPrefix: Paint; selectedText: Paint; description: Paint; scrollInfo: Paint; noMatch: Paint }
  export interface SelectListLayoutOptions {
    minPrimaryColumnWidth?: number;
    maxPrimaryColumnWidth?: number;
    truncatePrimary?: (context: { text: string; maxWidth: number; columnWidth: number; item: SelectItem; isSelected: boolean }) => string;
  }
  export class SelectList extends Component {
    constructor(items: SelectItem[], maxVisible?: number, theme?: SelectListTheme, layout?: SelectListLayoutOptions);
    onSelect?: (item: SelectItem) => void;
    onCancel?: () => void;
    onSelectionChange?: (item: SelectItem) => void;
    setFilter(filter: string): void;
    setSelectedIndex(index: number): void;
    getSelectedItem(): SelectItem | null;
    handleInput(data: string): void;
  }
  export interface SettingItem {
    id: string;
    label: string;
    description?: string;
    currentValue: string;
    values?: string[];
    submenu?: (currentValue: string, done: (selectedValue?: string) => void) => Component;
  }
  export interface SettingsListTheme { label: (text: string, selected: boolean) => string; value: (text: string, selected: boolean) => string; description: Paint; cursor: string; hint: Paint }
  export class SettingsList extends Component {
    constructor(items: SettingItem[], maxVisible: number, theme: SettingsListTheme, onChange: (id: string, newValue: string) => void, onCancel: () => void, options?: { enableSearch?: boolean });
    updateValue(id: string, newValue: string): void;
    handleInput(data: string): void;
  }
  export class Input extends Component implements Focusable {
    onSubmit?: (value: string) => void;
    onEscape?: () => void;
    focused: boolean;
    getValue(): string;
    setValue(value: string): void;
    handleInput(data: string): void;
  }
  export interface EditorTheme { borderColor: Paint; selectList: SelectListTheme }
  export interface EditorOptions { paddingX?: number; autocompleteMaxVisible?: number }
  export interface AutocompleteItem { value: string; label: string; description?: string }
  export interface AutocompleteProvider {
    getSuggestions(lines: string[], cursorLine: number, cursorCol: number, options: { signal: AbortSignal; force?: boolean }): Promise<{ items: AutocompleteItem[]; prefix: string } | null>;
    applyCompletion(lines: string[], cursorLine: number, cursorCol: number, item: AutocompleteItem, prefix: string): { lines: string[]; cursorLine: number; cursorCol: number };
  }
  export class Editor extends Component implements Focusable {
    constructor(tui: unknown, theme?: EditorTheme, options?: EditorOptions);
    protected tui: any;
    focused: boolean;
    borderColor: Paint;
    disableSubmit: boolean;
    onSubmit?: (text: string) => void;
    onChange?: (text: string) => void;
    getText(): string;
    getExpandedText(): string;
    getLines(): string[];
    getCursor(): { line: number; col: number };
    setText(text: string): void;
    insertTextAtCursor(text: string): void;
    addToHistory(text: string): void;
    getPaddingX(): number;
    setPaddingX(padding: number): void;
    getAutocompleteMaxVisible(): number;
    setAutocompleteMaxVisible(maxVisible: number): void;
    setAutocompleteProvider(provider: AutocompleteProvider): void;
    isShowingAutocomplete(): boolean;
    handleInput(data: string): void;
  }
  /** The screen that a component is given. It cannot be made: an extension has no terminal. */
  export class TUI {
    private constructor();
    requestRender(force?: boolean): void;
    setFocus(component: Component | null): void;
    readonly terminal: { readonly columns: number; readonly rows: number };
  }

  /** Written before the character that the cursor is on. It takes no cell. */
  export const CURSOR_MARKER: string;
  export function renderFakeCursor(character?: string): string;
  export function isFocusable(component: unknown): component is Component & Focusable;
  /** How many cells a text takes, without its colours. A tab takes four. */
  export function visibleWidth(text: string): number;
  export function truncateToWidth(text: string, width: number, ellipsis?: string, pad?: boolean): string;
  export function wrapTextWithAnsi(text: string, width: number): string[];

  /** Names of keys: Key.escape, Key.ctrl("k"). */
  export const Key: Record<string, any>;
  export function matchesKey(data: string, keyId: string): boolean;
  /** Returns the name of the key that data is, as "ctrl+c". */
  export function parseKey(data: string): string | undefined;
  export function isKeyRelease(data: string): boolean;
  export function isKeyRepeat(data: string): boolean;
  export function decodeKittyPrintable(data: string): string | undefined;
  /** Returns false: each client has a terminal of its own. */
  export function isKittyProtocolActive(): boolean;
  export function setKittyProtocolActive(active: boolean): void;

  export function fuzzyMatch(query: string, text: string): { matches: boolean; /** Lower is better. */ score: number };
  export function fuzzyFilter<T>(items: T[], query: string, getText: (item: T) => string): T[];

  export interface KeybindingDefinition { defaultKeys: string | string[]; description?: string }
  export const TUI_KEYBINDINGS: Record<string, KeybindingDefinition>;
  export class KeybindingsManager {
    constructor(definitions?: Record<string, KeybindingDefinition>, userBindings?: Record<string, string | string[] | undefined>);
    matches(data: string, keybinding: string): boolean;
    getKeys(keybinding: string): string[];
    getDefinition(keybinding: string): KeybindingDefinition;
    getConflicts(): { key: string; keybindings: string[] }[];
    setUserBindings(bindings: Record<string, string | string[] | undefined>): void;
    getUserBindings(): Record<string, string | string[] | undefined>;
    getResolvedBindings(): Record<string, string[]>;
  }
  export function getKeybindings(): KeybindingsManager;
  export function setKeybindings(keybindings: KeybindingsManager): void;
  /** The names that older extensions use for the same. */
  export class EditorKeybindingsManager extends KeybindingsManager {}
  export function getEditorKeybindings(): KeybindingsManager;
  export function setEditorKeybindings(keybindings: KeybindingsManager): void;
}

declare module "@mariozechner/pi-coding-agent/hooks" { export * from "@mariozechner/pi-coding-agent"; }
declare module "@mariozechner/pi-coding-agent/extensions" { export * from "@mariozechner/pi-coding-agent"; }
declare module "@mariozechner/pi-agent-core" { export type { AgentMessage, ToolDefinition as AgentTool } from "scorel"; }
declare module "@earendil-works/pi-ai" { export * from "@mariozechner/pi-ai"; }
declare module "@earendil-works/pi-coding-agent" { export * from "@mariozechner/pi-coding-agent"; }
declare module "@earendil-works/pi-ai/compat" { export * from "@mariozechner/pi-ai"; }
declare module "@earendil-works/pi-coding-agent/hooks" { export * from "@mariozechner/pi-coding-agent"; }
declare module "@earendil-works/pi-coding-agent/extensions" { export * from "@mariozechner/pi-coding-agent"; }
declare module "@earendil-works/pi-tui" { export * from "@mariozechner/pi-tui"; }
declare module "@earendil-works/pi-agent-core" { export * from "@mariozechner/pi-agent-core"; }
