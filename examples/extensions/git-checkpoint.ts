// Note the state of the working tree before each turn, as a Git commit that no branch
// names, and bring it back with /checkpoint. Files that Git ignores are not in it.
//
//   /checkpoint         asks which one
//   /checkpoint last    the newest one
import type { ExtensionAPI, ExtensionContext } from "scorel";

interface Checkpoint {
  commit: string;
  at: number;
}

export default function (pi: ExtensionAPI) {
  // The turn waits for this handler, so the tree is as it was before.
  pi.on("before_agent_start", async (_event, ctx) => {
    // stash create makes a commit and changes nothing; it prints nothing when the tree
    // is as HEAD has it.
    const stash = await pi.exec("git", ["stash", "create", "scorel checkpoint"], { cwd: ctx.cwd });
    if (stash.code !== 0) return undefined; // no repository
    const commit = stash.stdout.trim() || (await pi.exec("git", ["rev-parse", "HEAD"], { cwd: ctx.cwd })).stdout.trim();
    if (commit && commit !== checkpoints(ctx).at(-1)?.commit) {
      await pi.appendEntry("git_checkpoint", { commit, at: Date.now() } satisfies Checkpoint);
    }
    return undefined;
  });

  pi.registerCommand("checkpoint", {
    description: "Bring files back to how they were before a turn",
    argumentHint: "[last]",
    handler: async (args, ctx) => {
      const all = checkpoints(ctx).reverse();
      if (all.length === 0) return ctx.ui.notify("There is no checkpoint yet.", "warning");
      const labels = all.map((c) => `${new Date(c.at).toISOString().slice(0, 19).replace("T", " ")}  ${c.commit.slice(0, 10)}`);
      const picked = args.trim() === "last" ? labels[0] : await ctx.ui.select("Bring files back to", labels);
      if (picked === undefined) return;
      const { commit } = all[labels.indexOf(picked)];
      const restored = await pi.exec("git", ["restore", "--source", commit, "--worktree", "--", "."], { cwd: ctx.cwd });
      if (restored.code !== 0) return ctx.ui.notify(`Git says: ${restored.stderr.trim()}`, "error");
      ctx.ui.notify(`Files are as they were at ${picked}.`, "info");
    },
  });
}

function checkpoints(ctx: ExtensionContext): Checkpoint[] {
  return ctx.sessionManager.getBranch().flatMap((e) => (e.type === "custom" && e.customType === "git_checkpoint" ? [e.data as Checkpoint] : []));
}
