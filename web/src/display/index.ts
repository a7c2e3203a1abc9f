export * from "./clean";
export * from "./item";
export * from "./template";
