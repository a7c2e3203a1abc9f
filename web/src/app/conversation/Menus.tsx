import { Copy, Ellipsis, GitBranch, Link as LinkIcon, Pencil, Undo2 } from "lucide-react";
import { newSessionID } from "../../client/index";
import type { EventID } from "../../protocol/index";
import { sentence, useClient, useMay, useSession } from "../host/context";
import { Divider, IconButton, Menu, MenuItem } from "../parts/controls";
import { tell } from "../parts/tell";
import { go, hrefOf } from "../route";
import { askMove } from "../tree/asked";
import { useWords } from "../words/index";
import type { Row } from "./rows";
import { conversationWords } from "./words";

/** What every message offers. */
function useActions(event: EventID) {
  const w = useWords(conversationWords);
  const client = useClient();
  const { sessionId } = useSession();
  const copy = (text: string) =>
    navigator.clipboard.writeText(text).then(
      () => tell(w.copied, { bad: false }),
      () => tell(w.notCopied),
    );
  const copyLink = () => copy(`${location.href.split("#")[0]}${hrefOf({ at: "session", id: sessionId, event })}`);
  const branch = () => {
    const id = newSessionID();
    client.call("clone_session", { fromSessionId: sessionId, fromEventId: event }, { sessionId: id }).then(
      (made) => {
        for (const n of made.notices ?? []) tell(n);
        go({ at: "session", id });
      },
      (e) => tell(sentence(e)),
    );
  };
  return { copy, copyLink, branch };
}

/** What can be done with an answer of the model. */
export function AnswerMenu({ row }: { row: Extract<Row, { kind: "prose" }> }) {
  const w = useWords(conversationWords);
  const may = useMay("control");
  const { copy, copyLink, branch } = useActions(row.also?.at(-1) ?? row.event); // with all of it
  return (
    <Menu label={w.actionsOfAnswer} trigger={<IconButton className="saidmenu" of={Ellipsis} name={w.actionsOfAnswer} small />}>
      <MenuItem of={Copy} onSelect={() => copy(row.text)}>
        {w.copy}
      </MenuItem>
      <MenuItem of={LinkIcon} onSelect={copyLink}>
        {w.copyLink}
      </MenuItem>
      {may && (
        <MenuItem of={GitBranch} onSelect={branch}>
          {w.branch}
        </MenuItem>
      )}
    </Menu>
  );
}

/** What can be done with a message of a person. */
export function SaidMenu({ row }: { row: Extract<Row, { kind: "said" }> }) {
  const w = useWords(conversationWords);
  const client = useClient();
  const session = useSession();
  const may = useMay("control");
  const { sessionId } = session;
  const failed = (e: unknown) => tell(sentence(e));
  const { copy, copyLink, branch } = useActions(row.event);
  const rewind = (restoreFiles: boolean) => {
    const e = session.projection.path.find((p) => p.id === row.event);
    if (!e) return;
    client
      .call("rewind_to", { targetEventId: e.parentId, ...(restoreFiles ? { restoreFiles } : {}) }, { sessionId })
      .then(
        (moved) => tell(restoreFiles ? w.rewound(moved.restored?.length ?? 0, moved.skipped?.length ?? 0) : w.moved, { bad: false }),
        failed,
      );
  };
  const edit = () => {
    const e = session.projection.path.find((p) => p.id === row.event);
    if (e) askMove({ title: w.edit, target: e.parentId, rewind: true, leaves: true, edit: row.event });
  };
  return (
    <Menu label={w.actions} trigger={<IconButton className="saidmenu" of={Ellipsis} name={w.actions} small />}>
      <MenuItem of={Copy} onSelect={() => copy(row.text)}>
        {w.copy}
      </MenuItem>
      <MenuItem of={LinkIcon} onSelect={copyLink}>
        {w.copyLink}
      </MenuItem>
      {may && (
        <>
          <MenuItem of={GitBranch} onSelect={branch}>
            {w.branch}
          </MenuItem>
          <Divider />
          <MenuItem of={Pencil} onSelect={edit}>
            {w.edit}
          </MenuItem>
          <MenuItem of={Undo2} onSelect={() => rewind(false)}>
            {w.rewind}
          </MenuItem>
          <MenuItem of={Undo2} onSelect={() => rewind(true)}>
            {w.rewindFiles}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
