// Modules that imports resolve to. A name that one of them does not have is refused
// where it is used, with the module and the name.

function define(names, exports, instead) {
  const missing = new Proxy({}, {
    get(target, name) {
      if (typeof name !== "string") return undefined;
      switch (name) {
        case "default": case "then": case "__esModule": case "toJSON":
          return undefined;
      }
      if (name in target) return target[name];
      throw new Error(`${names[0]} has no ${name} in Scorel. ${instead}`);
    },
  });
  Object.setPrototypeOf(exports, missing);
  for (const name of names) host.define(name, exports);
}

// both gives a name of a package and the one it has had since it moved.
function both(name) {
  return [`@mariozechner/${name}`, `@earendil-works/${name}`];
}
