import { words } from "../words/index";

export const composerWords = words(
  {
    placeholder: "Message, / for commands, @ for files, ! for the shell",
    message: "Message",
    send: "Send",
    queue: "Queue",
    stop: "Stop",
    watching: "You are watching. Whoever has control can let you answer.",
  },
  {
    placeholder: "消息，/ 命令，@ 文件，! 终端",
    message: "消息",
    send: "发送",
    queue: "排队",
    stop: "停止",
    watching: "你正在旁观。有控制权的人可以允许你回答。",
  },
);
