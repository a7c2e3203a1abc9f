/** Builds the host once for all tests, and removes it after them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutHost } from "./host";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

export default function setup(): (() => void) | undefined {
  if (process.env.SCOREL_BINARY || withoutHost() !== "") return undefined;
  const dir = mkdtempSync(join(tmpdir(), "scorel-web-"));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  const binary = join(dir, "scorel");
  try {
    execFileSync("go", ["build", "-buildvcs=false", "-o", binary, "./cmd/scorel"], {
      cwd: root,
      env: { ...process.env, CGO_ENABLED: "0" },
    });
  } catch (e) {
    remove();
    throw e;
  }
  process.env.SCOREL_BINARY = binary;
  return remove;
}
