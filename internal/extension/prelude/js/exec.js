// exec runs a program without a shell and waits for its end; cwd is the session's
// unless options name another, timeout is in milliseconds.
async function exec(command, args = [], options = {}) {
  need("string", command, "The command of exec");
  if (!Array.isArray(args)) throw new TypeError("The arguments of exec must be a list of strings.");
  const result = await request("exec", {
    command,
    args: args.map(String),
    cwd: options.cwd,
    timeoutMs: options.timeout,
    stdin: options.stdin,
  }, options.signal);
  return { stdout: result.stdout || "", stderr: result.stderr || "", code: result.code, killed: result.killed === true };
}
