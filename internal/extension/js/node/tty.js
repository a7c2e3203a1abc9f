(function (module, internal) {
  "use strict";
  module.exports = { isatty: () => false };
  internal.absent(module.exports, "tty", ["ReadStream", "WriteStream"]);
})
