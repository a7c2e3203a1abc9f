(function (module, internal) {
  "use strict";
  module.exports = internal.n.module("http").secure;
})
