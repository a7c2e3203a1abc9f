// Handlers that pi.on registers: which events exist, and how each hook's handlers are
// asked one after the other.

const handlers = new Map(); // by event: functions, in the order of registration

// kindOf says what an event is: a hook, whose answers count; an event, which is only
// told; local, which the prelude itself raises; or the sentence why it does not exist.
function kindOf(event) {
  switch (event) {
    case "tool_call": case "tool_result": case "context": case "input": case "before_agent_start":
    case "session_before_compact": case "session_before_tree": case "session_before_fork": case "session_before_switch": case "before_provider_request": case "stop":
    case "user_bash": case "resources_discover":
      return "hook";
    case "session_start": case "session_info_changed": case "session_compact":
    case "session_tree": case "agent_start": case "agent_end": case "agent_settled": case "turn_start":
    case "turn_end": case "message_start": case "message_update": case "message_end":
    case "tool_execution_start": case "tool_execution_update": case "tool_execution_end":
    case "after_provider_response": case "model_select": case "thinking_level_select":
    case "ui_prompt_start": case "ui_prompt_end":
      return "event";
    case "session_shutdown":
      return "local";
    case "session": case "session_switch": case "session_directory": case "session_fork":
      return "It was replaced by session_start{reason}.";
    case "session_compact_failed":
      return "A compaction that fails is a notice of the host.";
    case "project_trust":
      return "Trust is a person's decision; see `scorel trust`.";
    case "provider_stream_event":
      return "Answers come in message_update; the raw events of a vendor stay with the host.";
    case "before_provider_headers":
      return "Set headers in [models.<alias>] of config.toml.";
    case "cache_warming_decision":
      return "Scorel does not warm caches.";
  }
  return "Scorel has no event of this name.";
}

function on(event, handler) {
  need("string", event, "The name of an event");
  need("function", handler, `The handler of ${event}`);
  switch (kindOf(event)) {
    case "hook": case "event": case "local":
      break;
    default:
      unsupported(`Handlers of ${event} are never called. ${kindOf(event)}`);
      return;
  }
  if (!handlers.has(event)) handlers.set(event, []);
  handlers.get(event).push(handler);
  changed();
}

function handlersOf(event) {
  return (handlers.get(event) || []).slice();
}

function namesOf(kind) {
  return Array.from(handlers.keys()).filter((name) => kindOf(name) === kind);
}

// eventNames are those that the host has to tell of. What happens to a call later comes
// without its name and arguments, which its start has brought.
function eventNames() {
  const names = namesOf("event");
  if (names.some((n) => n === "tool_execution_update" || n === "tool_execution_end") && !names.includes("tool_execution_start")) {
    names.push("tool_execution_start");
  }
  return names;
}

const MAX_RUNNING = 256; // calls that are remembered; one whose end is never told goes
const running = new Map(); // by id: {toolName, args}

function completed(type, event) {
  switch (type) {
    case "tool_execution_start":
      if (running.size >= MAX_RUNNING) running.delete(running.keys().next().value);
      running.set(event.toolCallId, { toolName: event.toolName, args: event.args });
      return event;
    case "tool_execution_update":
      return { ...running.get(event.toolCallId), ...event };
    case "tool_execution_end": {
      const start = running.get(event.toolCallId);
      running.delete(event.toolCallId);
      return { ...start, ...event };
    }
  }
  return event;
}

// each asks the handlers of an event one after the other. One that fails is reported
// and skipped. take gets each answer that is an object; what is not undefined ends it.
async function each(event, payload, ctx, take = () => undefined) {
  for (const handler of handlersOf(event)) {
    let answer;
    try {
      answer = await handler(payload, ctx);
    } catch (err) {
      handlerFailed(event, err);
      continue;
    }
    if (answer === null || typeof answer !== "object") continue;
    const end = take(answer);
    if (end !== undefined) return end;
  }
  return undefined;
}

// happened runs the handlers of an event that is only told.
async function happened(type, fields) {
  const event = completed(type, { ...fields, type });
  if (event.message) event.message = host.toForm(event.message, "pi");
  if (Array.isArray(event.messages)) event.messages = event.messages.map((m) => host.toForm(m, "pi"));
  if (Array.isArray(event.toolResults)) event.toolResults = event.toolResults.map((m) => host.toForm(m, "pi"));
  if (event.toolName) event.toolName = toolNameOut(event.toolName);
  await each(type, event, hookContext());
}
