// An extension whose command draws a dialog of its own.
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Container, matchesKey, Spacer, Text } from "@mariozechner/pi-tui";

const all = [
  ["correctness", "does the change do what it says"],
  ["tests", "is each fault covered by a test that fails without the change"],
  ["security", "what can be reached from outside"],
  ["words", "names, comments and messages"],
];

export default function (pi: ExtensionAPI) {
  pi.registerCommand("reviewers", {
    description: "Choose who reviews the next change",
    handler: async (_args, ctx) => {
      const chosen = new Set(["correctness"]);
      await ctx.ui.custom<void>((tui, theme, _keys, done) => {
        let on = 0;
        return {
          render(width) {
            const box = new Container();
            box.addChild(new Text(theme.fg("accent", theme.bold("Who reviews the next change?")), 1, 0));
            box.addChild(new Spacer(1));
            all.forEach(([name, what], i) => {
              const line = `${i === on ? "❯ " : "  "}${chosen.has(name) ? "[x]" : "[ ]"} ${name}`;
              box.addChild(new Text((i === on ? theme.fg("accent", line) : line) + theme.fg("dim", `  ${what}`), 1, 0));
            });
            box.addChild(new Spacer(1));
            box.addChild(new Text(theme.fg("dim", `${chosen.size} of ${all.length} chosen · Space: toggle · Enter: done`), 1, 0));
            return box.render(width);
          },
          handleInput(data) {
            const name = all[on][0];
            if (matchesKey(data, "up")) on = (on + all.length - 1) % all.length;
            else if (matchesKey(data, "down")) on = (on + 1) % all.length;
            else if (matchesKey(data, "space")) chosen.has(name) ? chosen.delete(name) : chosen.add(name);
            else if (matchesKey(data, "enter")) done();
          },
          invalidate() {},
        };
      }, { title: "reviewers" });
    },
  });
}
