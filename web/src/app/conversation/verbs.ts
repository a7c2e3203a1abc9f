/** How steps are called and drawn, by what their tools mean. */
import {
  BookOpen,
  FilePen,
  FileText,
  FolderSearch,
  Globe,
  ListChecks,
  type LucideIcon,
  Map as MapIcon,
  MessageCircleQuestionMark,
  Plug,
  SquareTerminal,
  TextSearch,
  Waypoints,
  Wrench,
} from "lucide-react";
import type { ToolView } from "../../protocol/index";
import type { Language } from "../words/index";
import { type Step, shellName } from "./rows";

const byView: Record<Exclude<ToolView, "text">, { icon: LucideIcon; en: string; zh: string }> = {
  command: { icon: SquareTerminal, en: "Run", zh: "运行" },
  file: { icon: FileText, en: "Read", zh: "读取" },
  change: { icon: FilePen, en: "Edit", zh: "修改" },
  files: { icon: FolderSearch, en: "Find files", zh: "查找文件" },
  matches: { icon: TextSearch, en: "Search", zh: "搜索" },
  todos: { icon: ListChecks, en: "To do", zh: "待办" },
  page: { icon: Globe, en: "Fetch", zh: "获取" },
  results: { icon: Globe, en: "Search the web", zh: "搜索网页" },
  agent: { icon: Waypoints, en: "Sub-agent", zh: "子代理" },
  questions: { icon: MessageCircleQuestionMark, en: "Question", zh: "提问" },
  plan: { icon: MapIcon, en: "Plan", zh: "计划" },
  skill: { icon: BookOpen, en: "Skill", zh: "技能" },
};

/** Of a command that a person ran. */
const shellVerb: Record<Language, string> = { en: "Shell", zh: "终端命令" };

/** The verb and icon of a step. */
export function verbOf(step: Step, language: Language): { verb: string; icon: LucideIcon } {
  if (step.name === shellName) return { verb: shellVerb[language], icon: SquareTerminal };
  const view = step.info?.view;
  if (view && view !== "text" && Object.hasOwn(byView, view)) return { verb: byView[view][language], icon: byView[view].icon };
  const mcp = /^mcp__(.+?)__(.+)$/.exec(step.name);
  if (mcp) return { verb: `${mcp[1]} ${mcp[2]}`, icon: Plug };
  return { verb: step.name, icon: Wrench };
}
