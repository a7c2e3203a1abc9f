import { defineConfig } from "vitest/config";

// Node 20 has a WebSocket only with the flag; later ones ignore it.
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts"],
    globalSetup: ["src/client/testing/setup.ts"],
    setupFiles: ["src/client/testing/orphan.ts"],
    testTimeout: 400_000,
    hookTimeout: 200_000,
    expect: { poll: { timeout: 120_000 } }, // the machine may be busy
    pool: "forks",
    poolOptions: { forks: { execArgv: ["--experimental-websocket"], maxForks: 2 } },
  },
});
