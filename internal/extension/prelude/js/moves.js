// A command may lead the person who typed it to another session. Their terminal shows that
// one when the command has ended; whoever else watches this session stays.

// moving gives what a command leads elsewhere with. After a move the editor and notices are
// those of the other session.
function moving() {
  let moved = false;
  const carry = (what) => inOrder("session/carry", what);
  const carried = (what) => void carry(what).catch((err) => log("error", `the move: ${errorText(err)}`));
  const there = extend(extend({}, ui), {
    setEditorText(text) {
      if (moved) carried({ editor: String(text) });
      else ui.setEditorText(text);
    },
    pasteToEditor: (text) => there.setEditorText(text),
    notify(message, level) {
      if (moved) carried({ notice: withoutStyles(message) });
      else ui.notify(message, level);
    },
  });
  async function move(params, options) {
    if (options && options.setup) throw new Error("The option setup of ctx.newSession is not supported by Scorel. Use withSession.");
    const { cancelled } = await request("session/move", params);
    if (cancelled) return { cancelled: true };
    moved = true;
    if (options && options.withSession) {
      await options.withSession(guard({
        ui: there,
        hasUI: true,
        mode: host.session.mode,
        cwd: host.session.cwd,
        async sendUserMessage(content) {
          const blocks = blocksToLog(content, "pi");
          if (blocks.length === 0 || blocks.some((b) => b.type !== "text")) throw new TypeError("A message for another session is a text.");
          await carry({ message: blocks.map((b) => b.text).join("\n") });
        },
      }));
    }
    return { cancelled: false };
  }
  return {
    ui: there,
    // navigateTree goes to another branch of this session; a message of a person is put back
    // for the editor.
    async navigateTree(targetId, options = {}) {
      if (options.summarize) throw new Error("The option summarize of ctx.navigateTree is not supported by Scorel. Ask the person to do it with /tree.");
      const { cancelled, editor } = await request("session/move", { to: "tree", entryId: need("string", targetId, "The id of an entry") });
      if (cancelled) return { cancelled: true };
      if (options.label) await setLabel(targetId, options.label);
      if (editor) there.setEditorText(editor);
      return { cancelled: false };
    },
    newSession: (options) => move({ to: "new" }, options),
    fork: (entryId, options) => move({ to: "fork", entryId: need("string", entryId, "The id of an entry"), position: options && options.position }, options),
    switchSession: (session, options) => move({ to: "switch", session: need("string", session, "The id or the path of a session") }, options),
    shutdown() {
      inOrder("session/move", { to: "quit" }).catch((err) => ui.notify(errorText(err), "error"));
    },
  };
}
