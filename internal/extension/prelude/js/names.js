// The pi extension API knows the built-in tools by other names. Extensions of that
// shape are told, and may say, those; without it a gate on "bash" would let everything
// pass in silence. The inputs are Scorel's: path, command and content are the same.
// toolNames has pi's names for each tool; the first is the one that is told.

function toolNameOut(name) {
  return Object.hasOwn(toolNames, name) ? toolNames[name][0] : name;
}

function toolNameIn(name) {
  const own = Object.keys(toolNames).find((own) => toolNames[own].includes(name));
  return own === undefined ? name : own;
}
