import type { Project } from "../../protocol/index";
import { Button, Dialog } from "../parts/controls";
import { useWords } from "../words/index";
import { startWords } from "./startwords";

/** Asks by name whether a folder that is as wide as a home may be the workspace. */
export default function Wide({ project, onYes, onNo }: { project: Project; onYes(): void; onNo(): void }) {
  const w = useWords(startWords);
  const what = project.wide === "root" ? w.wideRoot(project.root) : w.wideHome(project.root);
  return (
    <Dialog open onClose={onNo} title={w.wideTitle(project.root)} about={`${what} ${w.wideAbout}`}>
      <div className="acts">
        <Button no onClick={onYes}>
          {w.wideYes}
        </Button>
        <Button look="ink" onClick={onNo}>
          {w.wideNo}
        </Button>
      </div>
    </Dialog>
  );
}
