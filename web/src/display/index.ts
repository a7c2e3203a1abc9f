export * from "./clean";
export * from "./call";
export * from "./item";
export * from "./template";
