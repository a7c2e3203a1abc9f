import type { ToolInfo } from "../protocol/tool";
import { tools } from "../protocol/tool";

/**
 * The tool that a call is about and its input: those that its input names where the tool
 * calls others, else the call's own. The twin of Target in the Go package protocol.
 */
export function targetOf(name: string, input: unknown): { name: string; input: unknown } {
  const info: ToolInfo | undefined = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (info?.targetField === undefined || typeof input !== "object" || input === null) return { name, input };
  const fields = input as Record<string, unknown>;
  const target = fields[info.targetField];
  if (typeof target !== "string" || target === "") return { name, input };
  return { name: target, input: fields[info.paramsField ?? ""] ?? {} };
}
