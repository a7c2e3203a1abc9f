/** Which model and level of thinking are in force: the session's own, else what the configuration says. */
import type { ModelInfo } from "../../protocol/index";
import { useAnswer, useLive, useSession } from "../host/context";
import { lastAnswer } from "./history";

export interface InForce {
  /** "" for none */
  model: string;
  /** "" for the model's own */
  thinking: string;
  /** The levels that the model has, the least first; none where it has none, or is not known. */
  levels: readonly string[];
}

export function useInForce(): InForce {
  const { sessionId } = useSession();
  const own = useLive((l) => l.meta.model ?? "");
  const answered = useLive((_, s) => lastAnswer(s.projection.path, (m) => Boolean(m.model))?.model ?? "");
  const level = useLive((l) => l.meta.thinkingLevel ?? "");
  const config = useAnswer("get_config", {}, { sessionId });
  const setting = (key: string) => (config.data?.entries?.find((e) => e.key === key)?.value ?? "").replace(/^"(.*)"$/, "$1");
  const model = own || answered || setting("model.name");
  // There are more than a thousand models: only the one in force is asked for.
  const models = useAnswer("list_models", { query: model }, { enabled: model !== "" });
  return {
    model,
    thinking: level || setting("model.thinking"),
    levels: infoOf(models.data?.models ?? [], model)?.thinkingLevels ?? [],
  };
}

/** The description of a model by its name, with or without its provider. */
function infoOf(models: readonly ModelInfo[], name: string): ModelInfo | undefined {
  return models.find((m) => m.ref === name) ?? models.find((m) => m.ref.endsWith(`/${name}`));
}
