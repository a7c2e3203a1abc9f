// scorel: what an extension in Scorel's own shape imports.
define("scorel", () => ({
  defineExtension: (definition) => definition,
  Type: types(),
  StringEnum,
}), "It has defineExtension, Type and StringEnum.");
