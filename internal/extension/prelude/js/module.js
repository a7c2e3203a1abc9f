// Modules that imports resolve to. A name that one of them does not have is refused
// where it is used, with the module and the name. Other names of a package, such as
// those it has had since it moved, resolve to the ones here.

const modules = new Map(); // by name: {names, instead}

// define makes a module of its exports, or of a function that gives them when the module
// is first imported.
function define(name, exports, instead) {
  if (typeof exports === "function") {
    modules.set(name, { get names() { return exports(); }, instead });
    host.define(name, () => refusing(name, { ...exports() }, instead));
    return;
  }
  modules.set(name, { names: exports, instead });
  host.define(name, refusing(name, Object.defineProperties({}, Object.getOwnPropertyDescriptors(exports)), instead));
}

function refusing(name, exports, instead) {
  const missing = new Proxy({}, {
    get(target, member) {
      if (typeof member !== "string") return undefined;
      switch (member) {
        case "default": case "then": case "__esModule": case "toJSON":
          return undefined;
      }
      if (member in target) return target[member];
      throw new Error(`${name} has no ${member} in Scorel. ${instead}`);
    },
  });
  return Object.setPrototypeOf(exports, missing);
}
