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
  return new Proxy(object, {
    get(target, name) {
      if (typeof name === "string") alive();
      return target[name];
    },
  });
}

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

// tell asks the host for something whose answer nobody waits for. A failure is logged.
function tell(method, params) {
  request(method, params).catch((err) => log("error", `${method}: ${errorText(err)}`));
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
  host.notify("handlerFailed", { event, error: errorText(err), stack: err instanceof Error ? String(err.stack || "") : "" });
}

// refusal makes a function that says why it does not exist here.
function refusal(name, instead) {
  return () => {
    throw new Error(`${name} is not supported by Scorel. ${instead}`);
  };
}

const NO_COMPONENTS =
  "Scorel does not draw components of extensions. Use ui.select, confirm, input, editor or notify, or give setStatus and setWidget lines of text.";

// need throws unless value is of a type.
function need(type, value, what) {
  if (typeof value !== type || (type === "string" && value === "")) {
    throw new TypeError(`${what} must be a ${type === "string" ? "non-empty string" : type}.`);
  }
  return value;
}
