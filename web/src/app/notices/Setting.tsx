import { useAction } from "../host/context";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { setNotices, useNoticesOn } from "./notices";
import { noticeWords } from "./words";
import { withoutNotices } from "./worker";

/** Switches notifications on and off in this browser. */
export function NoticeSetting() {
  const w = useWords(noticeWords);
  const on = useNoticesOn();
  const without = withoutNotices();
  const set = useAction(async (want: boolean) => {
    if ((await setNotices(want)) !== want) throw new Error(w.refused);
  });
  return (
    <div className="field">
      <label htmlFor="setting-notices">{w.notices}</label>
      <select
        id="setting-notices"
        className="input"
        value={on ? "on" : "off"}
        disabled={without !== "" || set.busy}
        onChange={(e) => void set.run(e.target.value === "on")}
      >
        <option value="off">{w.off}</option>
        <option value="on">{w.on}</option>
      </select>
      <span className="t3">{without === "" ? w.about : w[without]}</span>
      <ErrorLine error={set.error} />
    </div>
  );
}
