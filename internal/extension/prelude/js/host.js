// What everything else stands on: calls to the host, and the end of the extension.
// All files of this folder are one function with the native object as `host`.

// ended says why nothing of this extension may be used any more, once it is unloaded.
let ended = "";

// alive throws when the extension was unloaded: what it kept belongs to a session
// that has moved on without it.
function alive() {
  if (ended) throw new Error(ended);
}

// guard gives an object that throws when it is used after the extension was unloaded.
function guard(object) {
  return new Proxy(object, whileLoaded);
}

const whileLoaded = {
  get(target, name) {
    if (typeof name === "string") alive();
    return target[name];
  },
};

// extend puts the properties of more, getters too, into object.
function extend(object, more) {
  return Object.defineProperties(object, Object.getOwnPropertyDescriptors(more));
}

// request asks the host. When signal is aborted first it rejects with its reason, and
// the host is told that the answer is not wanted any more.
function request(method, params = {}, signal = undefined) {
  alive();
  if (!signal) return host.call(method, params);
  if (signal.aborted) return Promise.reject(reasonOf(signal));
  return new Promise((resolve, reject) => {
    const stop = () => reject(reasonOf(signal));
    signal.addEventListener("abort", stop, { once: true });
    host.call(method, params, signal).then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", stop));
  });
}

function reasonOf(signal) {
  return signal.reason === undefined ? new Error("It was cancelled.") : signal.reason;
}

// The host carries out each request by itself, so two that are sent together may change
// places. What extensions do without waiting for it has to keep its order: the newest
// entry of a kind counts, and so does the newest line of a key.

const ends = new Map(); // by method: when the last one that was asked for has ended

// inOrder asks like request, behind those of the same method that were asked before.
function inOrder(method, params) {
  alive();
  const run = (ends.get(method) || Promise.resolve()).then(() => request(method, params));
  ends.set(method, run.catch(() => undefined));
  return run;
}

const MAX_TOLD = 256; // things that wait to be told
const told = []; // {method, params}
let telling = null; // a promise while it goes on
let leavesOut = false;

// tell asks the host for something whose answer nobody waits for, one after the other.
// Of what replaces something that still waits only the newest is told. A failure is
// logged.
function tell(method, params = {}) {
  alive();
  const old = method === "ui/notify" ? undefined : told.find((t) => t.method === method && t.params.key === params.key);
  if (old) {
    old.params = params;
    return;
  }
  if (told.length >= MAX_TOLD) {
    if (!leavesOut) log("warning", `More than ${MAX_TOLD} notices and lines wait to be shown; further ones are left out.`);
    leavesOut = true;
    return;
  }
  told.push({ method, params });
  if (!telling) telling = Promise.resolve().then(tellAll);
}

async function tellAll() {
  while (told.length > 0) {
    const { method, params } = told.shift();
    try {
      await host.call(method, params);
    } catch (err) {
      log("error", `${method}: ${errorText(err)}`);
    }
  }
  telling = null;
  leavesOut = false;
}

// settled waits for all that was asked for and not waited for.
function settled() {
  return settledBut("");
}

// settledBut is settled but for one method.
async function settledBut(method) {
  await telling;
  await Promise.all(Array.from(ends).filter(([name]) => name !== method).map(([, end]) => end));
}

function log(level, ...parts) {
  const message = parts.map((p) => (typeof p === "string" ? p : p instanceof Error ? errorText(p) : JSON.stringify(p))).join(" ");
  host.notify("log", { level, message });
}

function errorText(err) {
  return err instanceof Error ? err.message : String(err);
}

// handlerFailed reports a handler that failed and is skipped.
function handlerFailed(event, err) {
  host.notify("handlerFailed", { event, error: errorText(err), stack: host.stack(err) });
}

// refusal makes a function that says why it does not exist here.
function refusal(name, instead) {
  const refused = `${name} is not supported by Scorel. ${instead}`;
  return Object.assign(() => {
    throw new Error(refused);
  }, { refused });
}

// refuses marks a function that does nothing here but say so.
function refuses(refused, fn) {
  return Object.assign(fn, { refused });
}

const NO_COMPONENTS =
  "Scorel does not draw components of extensions here. Draw them with ui.custom, or give setStatus and setWidget lines of text.";

// need throws unless value is of a type.
function need(type, value, what) {
  if (typeof value !== type || value === null || value === "") {
    throw new TypeError(`${what} must be a ${type === "string" ? "non-empty string" : type}.`);
  }
  return value;
}
