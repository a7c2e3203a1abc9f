import { words } from "../words/index";

export const textWords = words(
  {
    copy: "Copy",
    copied: "Copied",
    notCopied: "The browser does not let this page copy.",
    added: "added",
    removed: "removed",
    more: (n: string) => `${n} more lines`,
  },
  {
    copy: "复制",
    copied: "已复制",
    notCopied: "浏览器不允许此页面复制。",
    added: "新增",
    removed: "删除",
    more: (n: string) => `还有 ${n} 行`,
  },
);
