import { words } from "../words/index";

export const noticeWords = words(
  {
    session: "A session",
    plan: () => "Asks whether to carry out its plan",
    answer: (about: string) => about || "Asks you something",
    job: () => "Waits for you to continue",
    tool: (tool: string, about: string) => `Asks for ${tool}: ${about}`,
    notices: "Notifications",
    off: "off",
    on: "when a session waits for you, and this page is not looked at",
    insecure: "This browser shows none for a page without a certificate that it trusts.",
    unsupported: "This browser shows no notifications.",
    refused: "The browser does not let this page show notifications. Allow them in its settings for this site.",
    about:
      "They are made by this page, while it is open in a tab or as an app: for these, nothing is sent to a server of the browser's vendor.",
  },
  {
    session: "一个会话",
    plan: () => "询问是否执行计划",
    answer: (about: string) => about || "有问题要问你",
    job: () => "等待你继续",
    tool: (tool: string, about: string) => `请求使用 ${tool}：${about}`,
    notices: "通知",
    off: "关闭",
    on: "会话等待你而此页面未被查看时",
    insecure: "此页面没有受信任的证书，浏览器不会显示通知。",
    unsupported: "此浏览器不支持通知。",
    refused: "浏览器不允许此页面显示通知。请在浏览器的网站设置中允许。",
    about: "这些通知由打开的页面或应用自己生成，不会发送到浏览器厂商的服务器。",
  },
);
