/**
 * Ends a worker whose run was killed: it could tell nobody what it finds. Vitest would go on for
 * hours, with the error that it tells nobody.
 */
if (process.send) process.once("disconnect", () => process.exit(1));
