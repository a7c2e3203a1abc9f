import { words } from "../words/index";

export const conversationWords = words(
  {
    conversation: "Conversation",
    working: "Working",
    waits: "Waits for you",
    older: "Older messages",
    empty: "Nothing has been said yet.",
  },
  {
    conversation: "对话",
    working: "工作中",
    waits: "等待你处理",
    older: "更早的消息",
    empty: "还没有内容。",
  },
);
