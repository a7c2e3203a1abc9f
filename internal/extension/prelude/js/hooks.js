// What each hook's handlers are told and how their answers become one. The payloads
// and answers of the wire are in internal/extension/rpc/hookdata.go.

async function askHook({ hook, data }, signal) {
  switch (hook) {
    case "tool_call": return askToolCall(data, signal);
    case "tool_result": return askToolResult(data, signal);
    case "context": return askContext(data, signal);
    case "input": return askInput(data, signal);
    case "before_agent_start": return askAgentStart(data, signal);
    case "stop": return askStop(data, signal);
    case "session_before_compact": return askCompact(data, signal);
    case "session_before_tree": return askTree(data, signal);
    case "session_before_fork": return askMove(hook, { entryId: data.targetId || "" }, signal);
    case "session_before_switch": return askMove(hook, { reason: data.reason, targetSessionId: data.targetSessionId || undefined }, signal);
    case "before_provider_request": return askRequest(data, signal);
    case "user_bash": return askUserBash(data, signal);
    case "resources_discover": return askResources(data, signal);
  }
  return null;
}

// A handler of tool_call that fails fails the hook, and the host blocks the call.
async function askToolCall(data, signal) {
  const before = JSON.stringify(data.input);
  const event = { type: "tool_call", toolName: toolNameOut(data.toolName), toolCallId: data.toolCallId, input: data.input };
  const ctx = hookContext(signal);
  let decision;
  let reason;
  for (const handler of handlersOf("tool_call")) {
    const answer = await handler(event, ctx);
    if (answer === null || typeof answer !== "object") continue;
    if (answer.block || answer.decision === "deny") return { block: true, reason: answer.reason };
    if (answer.input !== undefined) event.input = answer.input;
    if (answer.result !== undefined) return { result: resultToLog(answer.result, "pi") };
    if (answer.decision !== undefined && decision !== "ask") ({ decision, reason } = answer);
  }
  const after = JSON.stringify(event.input);
  if (after === before && decision === undefined) return null;
  return { decision, reason, input: after === before ? undefined : event.input };
}

async function askToolResult(data, signal) {
  const event = {
    type: "tool_result",
    toolName: toolNameOut(data.toolName),
    toolCallId: data.toolCallId,
    input: data.input,
    content: blocksFromLog(data.content, "pi"),
    details: data.details,
    isError: data.isError === true,
  };
  const patch = {};
  await each("tool_result", event, hookContext(signal), (answer) => {
    for (const name of ["content", "details", "isError"]) {
      if (answer[name] !== undefined) event[name] = patch[name] = answer[name];
    }
  });
  if (Object.keys(patch).length === 0) return null;
  if (patch.content !== undefined) patch.content = blocksToLog(patch.content, "pi");
  return patch;
}

// Each handler of context sees the list as the one before left it.
async function askContext(data, signal) {
  let current = data;
  const ctx = hookContext(signal);
  for (const handler of handlersOf("context")) {
    const list = host.list(current, "pi");
    const event = { type: "context", entries: host.entries("pi"), messages: list };
    try {
      const answer = await handler(event, ctx);
      const next = host.unlist(answer && answer.messages !== undefined ? answer.messages : event.messages, "pi");
      if (next !== undefined && next !== null) current = next;
    } catch (err) {
      handlerFailed("context", err);
    }
  }
  return current === data ? null : current;
}

async function askInput(data, signal) {
  const event = {
    type: "input",
    text: data.text,
    images: data.images && data.images.length > 0 ? blocksFromLog(data.images, "pi") : undefined,
    source: data.source,
    streamingBehavior: data.streamingBehavior,
  };
  let transformed = false;
  const end = await each("input", event, hookContext(signal), (answer) => {
    switch (answer.action) {
      case "handled":
        return { action: "handled" };
      case "block":
        return { action: "block", reason: answer.reason };
      case "transform":
        if (answer.text !== undefined && typeof answer.text !== "string") {
          handlerFailed("input", new TypeError("The text of an answer is a string; this one is left out."));
          return undefined;
        }
        transformed = true;
        if (answer.text !== undefined) event.text = answer.text;
        if (answer.images !== undefined) event.images = answer.images;
        return undefined;
      case undefined: case "continue":
        return undefined;
    }
    handlerFailed("input", new TypeError(`There is no action ${JSON.stringify(answer.action)}; the actions are continue, transform, handled and block.`));
    return undefined;
  });
  if (end) return end;
  return transformed ? { action: "transform", text: event.text, images: blocksToLog(event.images, "pi") } : null;
}

// Messages of several handlers become one: the host keeps one for each extension.
async function askAgentStart(data, signal) {
  const event = {
    type: "before_agent_start",
    prompt: data.prompt,
    images: data.images && data.images.length > 0 ? blocksFromLog(data.images, "pi") : undefined,
    systemPrompt: data.systemPrompt,
    systemPromptOptions: {
      cwd: host.session.cwd,
      selectedTools: activeTools().map(toolNameOut),
      sections: {},
    },
  };
  let message;
  let replaced = false;
  await each("before_agent_start", event, hookContext(signal, () => event.systemPrompt), (answer) => {
    if (typeof answer.systemPrompt === "string") {
      event.systemPrompt = answer.systemPrompt;
      replaced = true;
    }
    if (answer.message) {
      const more = customMessage(answer.message);
      message = message ? { ...message, content: message.content.concat(more.content) } : more;
    }
  });
  // Sections that handlers have added follow the instructions, in tags of their names.
  for (const [name, text] of Object.entries(event.systemPromptOptions.sections || {})) {
    if (typeof text !== "string" || text === "") continue;
    event.systemPrompt = `${event.systemPrompt}\n\n<${name}>\n${text}\n</${name}>`;
    replaced = true;
  }
  if (!message && !replaced) return null;
  return { message, systemPrompt: replaced ? event.systemPrompt : undefined };
}

async function askStop(data, signal) {
  const text = await each("stop", { ...data, type: "stop" }, hookContext(signal), (answer) =>
    typeof answer.text === "string" && answer.text !== "" ? answer.text : undefined);
  return text === undefined ? null : { text };
}

async function askCompact(data, signal) {
  const messages = (data.messages || []).map((m) => host.toForm(m, "pi"));
  const event = {
    type: "session_before_compact",
    preparation: {
      firstKeptEntryId: data.firstKeptEntryId,
      messagesToSummarize: messages,
      turnPrefixMessages: [],
      isSplitTurn: false,
      tokensBefore: data.tokensBefore,
      previousSummary: data.previousSummary || undefined,
    },
    branchEntries: piEntries(),
    customInstructions: data.customInstructions || undefined,
    reason: data.reason,
    willRetry: data.reason === "overflow",
    signal,
  };
  let answerOf = null;
  await each("session_before_compact", event, hookContext(signal), (answer) => {
    if (answer.cancel) {
      answerOf = { cancel: true, reason: answer.reason };
      return true;
    }
    if (answer.compaction && typeof answer.compaction.summary === "string") answerOf = { summary: answer.compaction.summary };
    if (typeof answer.customInstructions === "string") answerOf = { ...answerOf, customInstructions: answer.customInstructions };
    return undefined;
  });
  return answerOf;
}

async function askTree(data, signal) {
  const event = {
    type: "session_before_tree",
    preparation: { targetId: data.targetId || null, oldLeafId: data.oldLeafId || null, kind: data.kind },
    signal,
  };
  let label;
  const end = await each("session_before_tree", event, hookContext(signal), (answer) => {
    if (answer.cancel) return { cancel: true, reason: answer.reason };
    if (typeof answer.label === "string") label = answer.label;
    return undefined;
  });
  return end || (label === undefined ? null : { label });
}

// askMove asks before the session is copied, or left for another one.
async function askMove(type, fields, signal) {
  const end = await each(type, { ...fields, type, signal }, hookContext(signal), (answer) =>
    (answer.cancel ? { cancel: true, reason: answer.reason } : undefined));
  return end || null;
}

// What several handlers bring along adds up.
async function askResources(data, signal) {
  const found = { skillPaths: [], promptPaths: [], themePaths: [] };
  await each("resources_discover", { type: "resources_discover", cwd: data.cwd, reason: data.reason }, hookContext(signal), (answer) => {
    for (const name of Object.keys(found)) {
      if (Array.isArray(answer[name])) found[name].push(...answer[name].map(String));
    }
  });
  return found;
}

// A command of a person. A handler that fails fails the hook, and the host does not run the
// command: who redirects commands to another machine does not want them here.
async function askUserBash(data, signal) {
  const event = { type: "user_bash", command: data.command, cwd: data.cwd, excludeFromContext: data.excludeFromContext === true };
  for (const handler of handlersOf("user_bash")) {
    const answer = await handler(event, hookContext(signal));
    if (answer === null || typeof answer !== "object") continue;
    if (answer.block || answer.cancel) return { block: true, reason: answer.reason };
    if (answer.result) return { result: shownOf(answer.result) };
    if (answer.operations) return { result: await runWith(answer.operations, event, signal) };
  }
  return null;
}

function shownOf({ output, exitCode, cancelled }) {
  return {
    output: output === undefined || output === null ? "" : String(output),
    exitCode: Number.isInteger(exitCode) ? exitCode : undefined,
    cancelled: cancelled === true,
  };
}

const MAX_USER_OUTPUT = 1 << 20; // characters that are kept of what operations print, the newest

// runWith runs a command with the operations of an extension: exec(command, cwd, {onData,
// signal, env}) gives {exitCode}.
async function runWith(operations, { command, cwd }, signal) {
  need("function", operations.exec, "exec of the operations of user_bash");
  const decoder = new TextDecoder();
  let output = "";
  const onData = (data) => {
    output += typeof data === "string" ? data : decoder.decode(data, { stream: true });
    if (output.length > 2 * MAX_USER_OUTPUT) output = output.slice(-MAX_USER_OUTPUT);
  };
  const done = await operations.exec(command, cwd, { onData, signal, env: { ...process.env } });
  return shownOf({ output: output.slice(-MAX_USER_OUTPUT), exitCode: done && done.exitCode, cancelled: signal && signal.aborted });
}

// A payload is any JSON object, and a handler may also write to the one it is given.
async function askRequest(data, signal) {
  const before = JSON.stringify(data.payload);
  const event = { type: "before_provider_request", payload: data.payload };
  await each("before_provider_request", event, hookContext(signal), (answer) => {
    event.payload = answer;
  });
  return JSON.stringify(event.payload) === before ? null : { payload: event.payload };
}
