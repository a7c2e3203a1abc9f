import { ChevronLeft } from "lucide-react";
import { IconButton } from "../parts/controls";
import { go } from "../route";
import { Connection } from "../shell/Shell";
import { shellWords } from "../shell/words";
import { useLanguage, useWords, words } from "../words/index";
import { panels } from "./index";
import "../settings/settings.css";
import "./panels.css";

const deviceWords = words({ none: (id: string) => `There is no panel ${id}.` }, { none: (id: string) => `没有面板 ${id}。` });

/** A panel of the device, as a page. */
export function DevicePanel({ id, section }: { id: string; section?: string | undefined }) {
  const w = useWords(deviceWords);
  const shell = useWords(shellWords);
  const language = useLanguage();
  const panel = panels.find((p) => p.id === id && p.place === "device");
  return (
    <main className="main">
      <header className="head">
        <IconButton
          className="back"
          of={ChevronLeft}
          name={shell.back}
          onClick={() => go(section ? { at: "panel", panel: id } : { at: "home" })}
        />
        <h1>{panel ? panel.title[language] : w.none(id)}</h1>
      </header>
      <div className="page">
        <Connection />
        {panel && <panel.View section={section} />}
      </div>
    </main>
  );
}
