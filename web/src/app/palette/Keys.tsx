import { Dialog } from "../parts/controls";
import { useWords } from "../words/index";
import { roomKeys, setSingleKeys, shortcuts, useSingleKeys } from "./keys";
import { paletteWords } from "./words";
import "./palette.css";

/** All keys of the page, and whether single ones do something. */
export default function Keys({ onClose }: { onClose(): void }) {
  const w = useWords(paletteWords);
  const single = useSingleKeys();
  return (
    <Dialog open onClose={onClose} title={w.keysTitle}>
      <Group title={w.everywhere} rows={shortcuts.filter((s) => !s.single).map((s) => [s.keys, w[s.does]])} />
      <Group title={w.notTyping} rows={shortcuts.filter((s) => s.single).map((s) => [s.keys, w[s.does]])} off={!single} />
      <label className="check">
        <input type="checkbox" checked={single} onChange={(e) => setSingleKeys(e.target.checked)} />
        {w.singleKeys}
      </label>
      {roomKeys.map((r) => (
        <Group key={r.room} title={w[r.room]} rows={r.keys.map(([keys, does]) => [keys, w[does]])} />
      ))}
    </Dialog>
  );
}

function Group({ title, rows, off }: { title: string; rows: (readonly [keys: string[], does: string])[]; off?: boolean }) {
  return (
    <section className="keys">
      <h3>{title}</h3>
      <dl className={off ? "off" : undefined}>
        {rows.map(([keys, does]) => (
          <div key={keys.join(" ")}>
            <dt>{does}</dt>
            <dd>
              {keys.map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
