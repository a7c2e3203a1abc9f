// The conversation as an extension sees it, and what it adds to it.

// isCoreType says that entries of a type belong to Scorel. Whoever could append them
// could rewrite what a person and a model have said.
function isCoreType(type) {
  switch (type) {
    case "message": case "compact": case "compaction": case "custom": case "custom_message":
    case "harness_item": case "branch_summary": case "rewind": case "branch": case "channel_inject":
    case "session": case "session_info": case "label": case "instruction_snapshot": case "queue_update":
    case "skill_index_snapshot": case "skill_index_delta": case "permission_decision": case "file_snapshot":
    case "context_cut": case "model_change": case "thinking_level_change":
      return true;
  }
  return false;
}

async function append(kind, data) {
  need("string", kind, "The type of an entry");
  if (isCoreType(kind)) {
    throw new Error(`Entries of type ${JSON.stringify(kind)} belong to Scorel; give yours a name of its own, like "myextension_${kind}".`);
  }
  const answer = await inOrder("session/append", { kind, data });
  return answer ? answer.id : undefined;
}

async function saveEntry(entry) {
  if (entry === null || typeof entry !== "object") throw new TypeError("saveEntry needs an object {type, …}.");
  const { type, id, parentId, timestamp, ...data } = entry;
  await append(type, data);
}

// VALUE is the field that holds the data of pi's appendEntry where its fields cannot
// stand flat beside those of the entry.
const VALUE = "$value";

function appendEntry(customType, data) {
  if (data === undefined) return append(customType);
  const flat = data !== null && typeof data === "object" && !Array.isArray(data) &&
    !["type", "id", "parentId", "timestamp"].some((name) => name in data);
  return append(customType, flat ? data : { [VALUE]: data });
}

function isCustomEntry(entry) {
  return !isCoreType(entry.type);
}

// piEntry gives an entry in the shape of pi's session files: custom ones hold their
// data in a field of their own, a compaction names the first kept entry.
function piEntry(entry, all) {
  if (isCustomEntry(entry)) {
    const { type, id, parentId, timestamp, ...rest } = entry;
    return { type: "custom", customType: type, data: VALUE in rest ? rest[VALUE] : rest, id, parentId: parentId || null, timestamp };
  }
  if (entry.type === "compaction") {
    const kept = all[entry.firstKeptEntryIndex];
    return { ...entry, firstKeptEntryId: kept ? kept.id : undefined };
  }
  return entry;
}

function piEntries() {
  const all = host.entries("pi");
  return Array.from(all, (entry) => piEntry(entry, all));
}

// labels are those that this extension has set.
const labels = new Map();

async function setLabel(entryId, label) {
  need("string", entryId, "The id of an entry");
  await inOrder("session/label", { entryId, label: label === undefined || label === null ? null : String(label) });
  if (label) labels.set(entryId, String(label));
  else labels.delete(entryId);
}

async function setSessionName(name) {
  await inOrder("session/name", { name: String(name) });
}

const OTHER_BRANCHES = "Extensions see the active path; getEntries and getBranch give it.";

const sessionManager = {
  getEntries: piEntries,
  getBranch(fromId) {
    const all = piEntries();
    if (fromId === undefined || fromId === null) return all;
    const at = all.findIndex((e) => e.id === fromId);
    return at < 0 ? [] : all.slice(0, at + 1);
  },
  buildContextEntries: piEntries,
  getEntry: (id) => piEntries().find((e) => e.id === id),
  getLeafId: () => host.state.leafId || null,
  getLeafEntry: () => piEntries().find((e) => e.id === host.state.leafId),
  getSessionId: () => host.session.id,
  getSessionFile: () => host.session.file || undefined,
  getCwd: () => host.session.cwd,
  getSessionName: () => host.state.name || undefined,
  getHeader: () => ({ type: "session", id: host.session.id, cwd: host.session.cwd }),
  getLabel: (id) => labels.get(id),
  getTree: refusal("sessionManager.getTree", OTHER_BRANCHES),
  getChildren: refusal("sessionManager.getChildren", OTHER_BRANCHES),
};
