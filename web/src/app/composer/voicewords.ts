import { words } from "../words/index";

export const voiceWords = words(
  {
    speak: "Speak",
    stop: "Stop listening",
    title: "Let this browser listen?",
    about:
      "The browser writes down what you say. Some browsers send the sound to their vendor for that; Scorel sends it nowhere. It listens from a press of the microphone to the next.",
    yes: "Listen",
    no: "Do not listen",
    failed: (why: string) =>
      ({
        "not-allowed": "This browser may not use the microphone here: allow it in the settings of the browser.",
        "service-not-allowed": "This browser does not write down speech on this page.",
        "audio-capture": "There is no microphone.",
        network: "The browser could not reach the service that writes down speech.",
        "language-not-supported": "The browser does not know this language.",
      })[why] ?? `The browser does not listen: ${why}`,
  },
  {
    speak: "语音输入",
    stop: "停止聆听",
    title: "允许此浏览器聆听？",
    about:
      "浏览器会把你说的话转成文字。有些浏览器会为此把声音发送给其厂商；Scorel 不会把它发送到任何地方。从按下麦克风到再次按下之间才会聆听。",
    yes: "开始聆听",
    no: "不聆听",
    failed: (why: string) =>
      ({
        "not-allowed": "此浏览器无权使用麦克风：请在浏览器设置中允许。",
        "service-not-allowed": "此浏览器不支持在本页面进行语音转文字。",
        "audio-capture": "没有找到麦克风。",
        network: "浏览器无法连接语音转文字服务。",
        "language-not-supported": "浏览器不支持此语言。",
      })[why] ?? `浏览器无法聆听：${why}`,
  },
);
