// The beginning and the end: which shape an extension has, and what the host may ask.

host.onLoad(async (module) => {
  // Nobody waits for the models here; the first handler does.
  fetched = host.models().then(learn).then(() => undefined, () => undefined);
  const exported = exportOf(module);
  if (typeof exported === "function") {
    try {
      await exported(pi);
    } catch (err) {
      failedAtLoad(err);
    }
    api = usesPi ? "pi" : "hooks";
  } else {
    await loadScorel(exported);
  }
  loading = false;
  return registration();
});

// failedAtLoad throws the error of an extension that cannot be loaded. Of one that is only
// checked it is one of the things to name, when it may come from another of them.
function failedAtLoad(err) {
  if (unknown && err instanceof TypeError) err.message += `; pi.${unknown} is not provided by Scorel`;
  if (!host.uses || host.uses.length === 0 || missing().length === 0) throw err;
  unsupported(`It cannot be loaded: ${errorText(err).replace(/\.$/, "")}.`);
}

// exportOf gives the function or object that makes the extension.
function exportOf(module) {
  let found = module && module.default;
  if (found && typeof found === "object" && found.__esModule && found.default) found = found.default;
  if (typeof found === "function") return found;
  for (const candidate of [found, module]) {
    if (candidate && typeof candidate === "object" && ["activate", "tools", "commands", "onEvent", "hooks"].some((n) => n in candidate)) {
      return candidate;
    }
  }
  throw new Error("The file exports no extension. It needs `export default function (pi) {…}`, or `export default {…}` with activate, tools, commands, onEvent or hooks.");
}

// Extensions make themselves ready in session_start, some of them with programs and
// files. Nothing else is asked of them before that has ended, or START_WAIT is over.
const START_WAIT = 5000; // milliseconds
let started = Promise.resolve();
let ready = false; // nothing has to be waited for

function start(handling) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => {
      log("warning", "The handlers of session_start have not ended after 5 s; what else happens no longer waits for them.");
      resolve();
    }, START_WAIT);
  });
  const now = Promise.race([handling, late]).finally(() => clearTimeout(timer));
  started = now;
  ready = false;
  // Whatever waits goes on in the same step, before the host can ask for more.
  later(() => { ready = started === now; });
  return handling;
}

// waiting lets a handler run when the list of models has come and the session has
// started.
function waiting(fn) {
  return (params, signal) => (ready ? fn(params, signal) : later(fn, params, signal));
}

async function later(fn, params, signal) {
  await fetched;
  await started;
  return fn(params, signal);
}

// open holds the handlers of events that run. At the end of the extension they have
// END_WAIT to come to theirs.
const END_WAIT = 3000; // milliseconds
const open = new Set();

function opened(handling) {
  open.add(handling);
  handling.then(() => open.delete(handling), () => open.delete(handling));
  return handling;
}

function allEnded() {
  if (open.size === 0) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      log("warning", "The handlers of events have not ended 3 s after the end of the session; it no longer waits for them.");
      resolve();
    }, END_WAIT);
    Promise.allSettled(Array.from(open)).then(resolve).finally(() => clearTimeout(timer));
  });
}

const event = ({ type, event }) => (api === "scorel" ? toldScorel({ ...event, type }) : happened(type, event || {}));
const laterEvent = waiting(event);

const hook = waiting((params, signal) => (api === "scorel" ? askScorel(params, signal) : askHook(params, signal)));

// starting runs the handlers of session_start. It has ended when what they have asked for
// counts; only the messages that they send wait for those of people.
async function starting(fields) {
  await fetched;
  await event({ type: "session_start", event: fields });
  await settledBut("agent/sendUser");
  return null;
}

host.handle("hook", (params, signal) => (params.hook === "session_start" ? start(starting(params.data)) : hook(params, signal)));
host.handle("tool/run", waiting(runTool));
host.handle("command/run", waiting(runCommand));
host.handle("command/complete", waiting(completeCommand));
host.handle("ui/render", waiting(renderEntry));
host.handle("event", (params) => opened(params.type === "session_start" ? start(starting(params.event)) : laterEvent(params)));
host.handle("bus", ({ channel, data }) => deliver(channel, data));

host.handle("extension/unload", async ({ reason }) => {
  await allEnded();
  try {
    await each("session_shutdown", { type: "session_shutdown", reason }, hookContext());
    if (extension.deactivate) await extension.deactivate();
  } catch (err) {
    handlerFailed("deactivate", err);
  }
  await settled();
  ended = `This extension was unloaded (${reason}); what it kept of the session cannot be used any more.`;
  return null;
});
