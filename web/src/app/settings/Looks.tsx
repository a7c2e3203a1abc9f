import { kept } from "../host/kept";
import { PushSetting } from "../notices/PushSetting";
import { NoticeSetting } from "../notices/Setting";
import { type Contrast, contrasts, setLooks, type Theme, themes, useLooks } from "../theme/theme";
import { type Language, languages, setLanguage, useLanguage, useWords } from "../words/index";
import { settingsWords } from "./settingswords";

/** Names of languages in themselves; they are not translated. */
const names: Record<Language, string> = { en: "English", zh: "中文" };

/** How the page looks in this browser, and its language. */
export default function Looks() {
  const w = useWords(settingsWords);
  const looks = useLooks();
  const language = useLanguage();
  const named = { system: w.system, light: w.light, dark: w.dark, more: w.more };
  return (
    <>
      <p className="lead">{w.looksAbout}</p>
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
        value={kept("language") ? language : ""}
        all={[["", w.browser], ...languages.map((l) => [l, names[l]] as const)]}
        onChange={(v) => setLanguage((v || undefined) as Language | undefined)}
      />
      <NoticeSetting />
      <PushSetting />
    </>
  );
}

function Choice({
  label,
  value,
  all,
  onChange,
}: {
  label: string;
  value: string;
  all: readonly (readonly [string, string])[];
  onChange(v: string): void;
}) {
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
