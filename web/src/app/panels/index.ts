/**
 * The panels of the page. A panel is one file, whose default export draws it, and one
 * registration here: its name in the address, its title in both languages, its icon, where it is
 * shown, and how it is loaded. It is loaded when it is opened for the first time.
 */
import {
  AppWindow,
  BriefcaseBusiness,
  Clock,
  FileDiff,
  Files,
  Gauge,
  type LucideIcon,
  Puzzle,
  QrCode,
  Server,
  Settings,
  Stethoscope,
} from "lucide-react";
import type { ComponentType } from "react";
import type { Language } from "../words/index";
import { lazy } from "../parts/lazy";

export interface Panel {
  id: string;
  title: Record<Language, string>;
  icon: LucideIcon;
  /** session: beside the conversation, as a tab. device: a page of its own. */
  place: "session" | "device";
  /** section is what the address names after the panel. */
  View: ComponentType<{ section?: string | undefined }>;
}

type Load = () => Promise<{ default: Panel["View"] }>;

function panel(id: string, place: Panel["place"], icon: LucideIcon, title: Panel["title"], load: Load): Panel {
  return { id, place, icon, title, View: lazy(load) };
}

/** All panels, in the order in which they are offered. */
export const panels: readonly Panel[] = [
  panel("session", "session", AppWindow, { en: "Session", zh: "会话" }, () => import("./session")),
  panel("changes", "session", FileDiff, { en: "Changes", zh: "更改" }, () => import("./changes")),
  panel("files", "session", Files, { en: "Files", zh: "文件" }, () => import("./files")),
  panel("extensions", "session", Puzzle, { en: "Extensions", zh: "扩展" }, () => import("./extensions")),
  panel("schedules", "device", Clock, { en: "Schedules and runs", zh: "计划与运行" }, () => import("./schedules")),
  panel("clients", "device", QrCode, { en: "Browsers and devices", zh: "浏览器与设备" }, () => import("./clients")),
  panel("usage", "device", Gauge, { en: "Usage", zh: "用量" }, () => import("./usagepage")),
  panel("jobs", "device", BriefcaseBusiness, { en: "Jobs", zh: "任务" }, () => import("./jobs")),
  panel("doctor", "device", Stethoscope, { en: "Doctor", zh: "诊断" }, () => import("./doctor")),
  panel("host", "device", Server, { en: "Host", zh: "主机" }, () => import("./host")),
  panel("settings", "device", Settings, { en: "Settings", zh: "设置" }, () => import("./settings")),
];
