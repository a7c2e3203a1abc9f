// What an extension that is only checked uses and Scorel lacks: host.uses has the names
// that its files use, with their places.

function lack(of, name) {
  if (api === "scorel") {
    switch (of) {
      case "ctx":
        return lackOf("ctx", { ...scorelFields(), args: [], argsRaw: "" }, name);
      case "event": case "tool": case "provider": case "api": case "ctx.sessionManager": case "ctx.modelRegistry":
        return "";
    }
  }
  switch (of) {
    case "event":
      switch (kindOf(name)) {
        case "hook": case "event": case "local": return "";
      }
      return `Handlers of ${name} are never called. ${kindOf(name)}`;
    case "tool":
      return "";
    case "option": {
      const [maker, option] = name.split(".");
      return refusedOptions.includes(option) ? refusedOption(option, builtinNameOf(maker)) : "";
    }
    case "tui":
      return refusedOfScreen.includes(name) ? `tui.${name} is not supported by Scorel. A component has no terminal of its own; call ui.custom again for another component.` : "";
    case "provider":
      return name === "streamSimple" ? `streamSimple of a provider is not used, and the provider not registered. ${NO_STREAMS}` : "";
    case "api":
      return lackOf("pi", pi, name);
    case "ctx":
      return lackOf("ctx", commandFields([], "", undefined), name);
    case "ctx.ui":
      return lackOf("ctx.ui", ui, name);
    case "ctx.sessionManager":
      return lackOf(of, sessionManager, name);
    case "ctx.modelRegistry":
      return lackOf(of, modelRegistry, name);
  }
  const exported = modules.get(of);
  if (!exported || name === "default" || name === "__esModule") return "";
  return Object.hasOwn(exported.names, name) ? exported.names[name].refused || "" : `${of} has no ${name} in Scorel. ${exported.instead}`;
}

function lackOf(what, object, name) {
  const there = name in object ? Object.getOwnPropertyDescriptor(object, name) || { value: object[name] } : undefined;
  if (!there) return `${what}.${name} is not provided by Scorel.`;
  return typeof there.value === "function" && there.value.refused ? there.value.refused : "";
}

// What the screen of a component refuses.
const refusedOfScreen = ["start", "stop", "addInputListener", "removeInputListener", "showOverlay"];

// builtinNameOf gives the built-in tool that a function gives: createBashTool gives bash.
function builtinNameOf(maker) {
  return maker.replace(/^create/, "").replace(/Tools?(Definition)?$/, "").toLowerCase();
}

const MAX_PLACES = 8; // that are named of one piece

// missing gives a sentence for each piece that is lacking, with its places. What the
// extension had refused while it was loaded is among them where no place is known.
function missing() {
  const places = new Map(); // by sentence
  for (const { of, name, place, node, absent } of host.uses || []) {
    const why = node ? (absent ? `${of}.${name} is not provided by Scorel.` : "") : lack(of, name);
    if (why) places.set(why, (places.get(why) || []).concat(place));
  }
  const found = Array.from(places, ([why, at]) =>
    `${at.slice(0, MAX_PLACES).join(", ")}${at.length > MAX_PLACES ? ` and ${at.length - MAX_PLACES} more` : ""}: ${why}`);
  const known = (sentence) => places.has(sentence) || Array.from(places.keys()).some((why) => sentence.endsWith(why.slice(why.indexOf(". ") + 2)) && refusedAtLoad(sentence));
  return found.concat(notSupported.filter((sentence) => !known(sentence)));
}

// refusedAtLoad says whether a sentence is about something that the files name.
function refusedAtLoad(sentence) {
  return /^(The (entry renderer|provider) )/.test(sentence);
}
