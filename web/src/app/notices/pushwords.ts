import { words } from "../words/index";

export const pushWords = words(
  {
    label: "Notify me also when this page is closed",
    about:
      "The host then wakes this browser through the push service of the browser’s vendor. That service sees when something waits, the address of this page and the network address of the host; what is sent has no content.",
    first: "Switch notifications on first.",
    grant: "This browser may only look here, and could not answer. A client with control can give it more.",
    insecure:
      "This cannot work here: the page has no certificate that the browser trusts. Use one of yours, a reverse proxy, or localhost.",
    certificate:
      "This cannot work here: the browser does not trust the certificate of the host, which made it itself. Start the host with one of yours, or use a reverse proxy.",
    unsupported:
      "This cannot work here: the browser runs nothing for a closed page. In a private window, use an ordinary one; else another browser.",
    homeScreen: "On an iPhone or iPad, add this page to the home screen first, and switch this on in it.",
    noPush: "This cannot work here: the browser takes no pushes. Use an ordinary window, or another browser.",
    denied: "The browser does not let this page show notifications. Allow them in its settings for this site.",
    service:
      "The browser could not subscribe at its push service. A private window cannot, and some browsers have it switched off in their settings.",
    gone: "The push service no longer knew this browser. Switch this off and on again.",
    refused: (status: number) =>
      `The push service has refused the last push${status > 0 ? ` (${status})` : ""}. Switch this off and on again.`,
    unreachable: "The host could not reach the push service for the last push. It tries again when the next session waits.",
    lost: (why: string) => `This browser is no longer told of what waits while the page is closed. ${why}`,
  },
  {
    label: "页面关闭时也通知我",
    about: "主机会通过浏览器厂商的推送服务唤醒此浏览器。该服务能看到何时有会话等待、此页面的地址和主机的网络地址；发送的内容为空。",
    first: "请先打开通知。",
    grant: "此浏览器在这里只能查看，无法回答。拥有全部权限的客户端可以给它更多权限。",
    insecure: "这里无法使用：此页面没有浏览器信任的证书。请使用你自己的证书、反向代理或 localhost。",
    certificate: "这里无法使用：浏览器不信任主机自制的证书。请用你自己的证书启动主机，或使用反向代理。",
    unsupported: "这里无法使用：浏览器不为关闭的页面运行任何程序。若是隐私窗口，请用普通窗口；否则请换浏览器。",
    homeScreen: "在 iPhone 或 iPad 上，请先把此页面添加到主屏幕，再在其中打开此项。",
    noPush: "这里无法使用：浏览器不接收推送。请用普通窗口或其他浏览器。",
    denied: "浏览器不允许此页面显示通知。请在浏览器的网站设置中允许。",
    service: "浏览器无法在其推送服务上订阅。隐私窗口不能订阅，有些浏览器在设置中关闭了它。",
    gone: "推送服务已不认识此浏览器。请关闭后重新打开此项。",
    refused: (status: number) => `推送服务拒绝了上一次推送${status > 0 ? `（${status}）` : ""}。请关闭后重新打开此项。`,
    unreachable: "上一次推送时主机无法连接推送服务。下一个会话等待时会再试。",
    lost: (why: string) => `页面关闭时，此浏览器不再收到通知。${why}`,
  },
);
