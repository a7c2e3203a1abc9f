import { useState } from "react";
import { useAction, useAnswer, useClient, useMay } from "../host/context";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { useNoticesOn } from "./notices";
import { pushOn, setPush, withoutPush } from "./push";
import { pushWords } from "./pushwords";

/** Switches pushes on and off in this browser: notifications while its page is closed. */
export function PushSetting() {
  const w = useWords(pushWords);
  const client = useClient();
  const notices = useNoticesOn();
  const may = useMay("answer");
  const without = withoutPush();
  const push = useAnswer("get_push", {}, { again: (c) => c.entries, enabled: without === "" });
  const [wanted, setWanted] = useState(false);
  const set = useAction(async (on: boolean) => {
    try {
      await setPush(client, on);
    } finally {
      push.reload();
    }
  });
  const on = notices && pushOn();
  const state = push.data?.state;
  const blocked = without !== "" ? w[without] : !may ? w.grant : !notices ? w.first : "";
  const problem =
    !on || set.busy || push.loading
      ? ""
      : state === "gone" || state === "unreachable"
        ? w[state]
        : state === "refused"
          ? w.refused(push.data?.status ?? 0)
          : "";
  return (
    <div className="field">
      <label className="check">
        <input
          type="checkbox"
          checked={set.busy ? wanted : on}
          disabled={set.busy || (blocked !== "" && !on)}
          onChange={(e) => {
            setWanted(e.target.checked);
            void set.run(e.target.checked);
          }}
        />
        {w.label}
      </label>
      <span className="t3">{blocked || w.about}</span>
      <ErrorLine error={set.error ?? (problem || undefined)} />
    </div>
  );
}
