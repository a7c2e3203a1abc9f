import { type Contrast, contrasts, setLooks, type Theme, themes, useLooks } from "../theme/theme";
import { useAnswer } from "../host/context";
import { kept } from "../host/kept";
import { ErrorLine } from "../parts/ErrorLine";
import { type Language, languages, setLanguage, useLanguage, useWords, words } from "../words/index";

const settingsWords = words(
  {
    looks: "Looks",
    theme: "Theme",
    contrast: "Contrast",
    language: "Language",
    browser: "as the browser has it",
    system: "as the system has it",
    light: "light",
    dark: "dark",
    more: "more",
    models: "Models",
    hasKey: "ready",
    noKey: "no key",
    window: "Window",
    state: "State",
    none: "No models are known.",
  },
  {
    looks: "外观",
    theme: "主题",
    contrast: "对比度",
    language: "语言",
    browser: "跟随浏览器",
    system: "跟随系统",
    light: "浅色",
    dark: "深色",
    more: "更高",
    models: "模型",
    hasKey: "可用",
    noKey: "没有密钥",
    window: "窗口",
    state: "状态",
    none: "没有已知的模型。",
  },
);

/** How the page looks in this browser, and which models the host knows. */
export default function SettingsPanel() {
  const w = useWords(settingsWords);
  const looks = useLooks();
  const language = useLanguage();
  const chosen = kept("language") ? language : "";
  const { data, error } = useAnswer("list_models", {});
  const named = { system: w.system, light: w.light, dark: w.dark, more: w.more };
  return (
    <div className="lead">
      <h2 className="h2">{w.looks}</h2>
      <Choice
        label={w.theme}
        value={looks.theme}
        all={themes.map((t) => [t, named[t]])}
        onChange={(v) => setLooks({ theme: v as Theme })}
      />
      <Choice
        label={w.contrast}
        value={looks.contrast}
        all={contrasts.map((c) => [c, named[c]])}
        onChange={(v) => setLooks({ contrast: v as Contrast })}
      />
      <Choice
        label={w.language}
        value={chosen}
        all={[["", w.browser], ...languages.map((l) => [l, { en: "English", zh: "中文" }[l]] as [string, string])]}
        onChange={(v) => setLanguage((v || undefined) as Language | undefined)}
      />
      <h2 className="h2">{w.models}</h2>
      <ErrorLine error={error} />
      {data && (data.models ?? []).length === 0 && <p className="t3">{w.none}</p>}
      {(data?.models ?? []).length > 0 && (
        <table className="tbl">
          <thead>
            <tr>
              <th>{w.models}</th>
              <th className="r">{w.window}</th>
              <th>{w.state}</th>
            </tr>
          </thead>
          <tbody>
            {(data?.models ?? []).map((m) => (
              <tr key={m.ref} className={m.hasKey ? "" : "off"}>
                <td className="mono">{m.ref}</td>
                <td className="r">{Math.round(m.contextWindow / 1000)}k</td>
                <td>{m.hasKey ? w.hasKey : w.noKey}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Choice({ label, value, all, onChange }: { label: string; value: string; all: [string, string][]; onChange(v: string): void }) {
  const id = `setting-${label}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={(e) => onChange(e.target.value)}>
        {all.map(([v, name]) => (
          <option key={v} value={v}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
