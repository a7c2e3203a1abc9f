import { FolderTree, KeyRound, type LucideIcon, Palette, Shield, SlidersHorizontal } from "lucide-react";
import type { ComponentType } from "react";
import { Icon } from "../parts/controls";
import { hrefOf } from "../route";
import { settingsWords } from "../settings/settingswords";
import { useLanguage, useWords } from "../words/index";
import { panels } from "./index";
import { lazy } from "../parts/lazy";

type Group = "you" | "agent" | "hostGroup";

interface Section {
  id: "looks" | "models" | "permissions" | "projects" | "config";
  group: Group;
  icon: LucideIcon;
  View: ComponentType;
}

/** The sections, in the order in which they are offered; the first one is shown where none is named. */
const sections: readonly Section[] = [
  { id: "models", group: "agent", icon: KeyRound, View: lazy(() => import("../settings/Models")) },
  { id: "permissions", group: "agent", icon: Shield, View: lazy(() => import("../settings/Permissions")) },
  { id: "projects", group: "agent", icon: FolderTree, View: lazy(() => import("../settings/Projects")) },
  { id: "config", group: "agent", icon: SlidersHorizontal, View: lazy(() => import("../settings/Configuration")) },
  { id: "looks", group: "you", icon: Palette, View: lazy(() => import("../settings/Looks")) },
];
const groups: readonly Group[] = ["you", "agent", "hostGroup"];
/** Pages of the device that belong to the host, and are offered beside the sections. */
const pages = ["clients", "schedules", "jobs", "usage", "doctor", "host"];

/** Settings: on a desk the sections beside the one that is shown, on a phone first the list of them. */
export default function SettingsPanel({ section }: { section?: string | undefined }) {
  const w = useWords(settingsWords);
  const language = useLanguage();
  const current = sections.find((s) => s.id === section) ?? sections[0];
  const links = (group: Group) =>
    group === "hostGroup"
      ? pages.flatMap((id) => {
          const p = panels.find((o) => o.id === id && o.place === "device");
          return p ? [{ id, icon: p.icon, name: p.title[language], href: hrefOf({ at: "panel", panel: id }) }] : [];
        })
      : sections
          .filter((s) => s.group === group)
          .map((s) => ({ id: s.id, icon: s.icon, name: w[s.id], href: hrefOf({ at: "panel", panel: "settings", section: s.id }) }));
  return (
    <div className="settings" data-section={section ?? "none"}>
      <nav className="snav" aria-label={w.nav}>
        {groups.map((g) => (
          <div key={g}>
            <h2>{w[g]}</h2>
            {links(g).map((l) => {
              const on = g !== "hostGroup" && l.id === current?.id;
              return (
                <a key={l.id} href={l.href} className={on ? "on" : ""} {...(on ? { "aria-current": "page" as const } : {})}>
                  <Icon of={l.icon} />
                  {l.name}
                </a>
              );
            })}
          </div>
        ))}
      </nav>
      {current && (
        <div className="body">
          <h2 className="title">{w[current.id]}</h2>
          <current.View />
        </div>
      )}
    </div>
  );
}
