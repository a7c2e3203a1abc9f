// Modules that imports resolve to. A name that one of them does not have is refused
// where it is used, with the module and the name. Other names of a package, such as
// those it has had since it moved, resolve to the ones here.

const modules = new Map(); // by name: {names, instead}

// define makes a module, whose exports a function returns when it is first imported: what
// an extension does not import costs it nothing.
function define(name, exports, instead) {
  modules.set(name, { get names() { return exports(); }, instead });
  host.define(name, () => refusing(name, Object.defineProperties({}, Object.getOwnPropertyDescriptors(exports())), instead));
}

// once returns what make returns, which is called at the first use.
function once(make) {
  let made;
  return () => (made === undefined ? (made = make()) : made);
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
