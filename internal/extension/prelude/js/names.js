// The pi extension API knows the built-in tools by other names. Extensions of that
// shape are told, and may say, those; without it a gate on "bash" would let everything
// pass in silence. The inputs are Scorel's: path, command and content are the same.

function toolNameOut(name) {
  switch (name) {
    case "Bash": return "bash";
    case "Read": return "read";
    case "Write": return "write";
    case "Edit": return "edit";
    case "Grep": return "grep";
    case "Glob": return "find";
  }
  return name;
}

function toolNameIn(name) {
  if (tools.has(name)) return name;
  switch (name) {
    case "bash": return "Bash";
    case "read": return "Read";
    case "write": return "Write";
    case "edit": return "Edit";
    case "grep": return "Grep";
    case "find": case "ls": return "Glob";
  }
  return name;
}
