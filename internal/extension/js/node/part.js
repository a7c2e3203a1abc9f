// A module that is a member of another, as fs/promises.
(function (module, internal, native) {
  module.exports = native;
})
