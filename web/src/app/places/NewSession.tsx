import { type FormEvent, useState } from "react";
import { newSessionID } from "../../client/index";
import { useAction, useAnswer, useClient } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { go } from "../route";
import { useWords } from "../words/index";
import { placesWords } from "./words";

/** Begins a session in a folder of the device. */
export default function NewSession({ workDir }: { workDir?: string | undefined }) {
  const w = useWords(placesWords);
  const client = useClient();
  const projects = useAnswer("list_projects", {}, { again: (c) => c.projects });
  const [folder, setFolder] = useState(workDir ?? "");
  const begin = useAction(async (dir: string) => {
    const sessionId = newSessionID();
    await client.call("create_session", { meta: { workDir: dir } }, { sessionId });
    go({ at: "session", id: sessionId });
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void begin.run(folder);
  };
  return (
    <main className="main">
      <form className="hello" onSubmit={submit}>
        <h1>{w.start}</h1>
        <p className="lead">{w.startAbout}</p>
        <div className="field">
          <label htmlFor="folder">{w.folder}</label>
          <input id="folder" className="input mono" value={folder} onChange={(e) => setFolder(e.target.value)} list="folders" required />
          <datalist id="folders">
            {projects.data?.projects?.map((p) => (
              <option key={p.projectId} value={p.workDir} />
            ))}
          </datalist>
        </div>
        <ErrorLine error={begin.error ?? projects.error} />
        <p>
          <Button look="ink" type="submit" disabled={begin.busy || folder === ""}>
            {w.begin}
          </Button>
        </p>
      </form>
    </main>
  );
}
