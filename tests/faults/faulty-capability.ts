/** A stack whose children of capabilities have one that fails as it is told (faulty-child.ts), behind a proxy before the object store. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { watchFolder } from "#deploy/embedded/reaper.mjs";
import { type CapabilityBench, startCapabilityBench } from "#tests/e2e/capabilities/bench.ts";
import { PROJECT_ROOT, sharedS3Url } from "#tests/support/infrastructure.ts";
import type { StackOptions } from "#tests/support/stack.ts";
import { startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";

export interface FaultyBench extends CapabilityBench {
  readonly s3: TcpProxy;
  /** A run that fails so; `canary` stands in its text. */
  fail(fault: string, key?: string, canary?: string): Promise<Response>;
}

/**
 * Children are started through `prlimit`, which is looked for in the worker's PATH: one stands there that names another script
 * and then does what it is asked. Both lie among the packages, which isolated children see.
 */
export async function startFaultyBench(options: StackOptions = {}): Promise<FaultyBench> {
  const directory = mkdtempSync(join(PROJECT_ROOT, "node_modules/.sluice-test-"));
  watchFolder(directory);
  const s3 = startTcpProxy(new URL(await sharedS3Url()).host);
  // The user of isolated children runs it too.
  chmodSync(directory, 0o755);
  const [prlimit, child] = [join(directory, "prlimit"), join(directory, "child.ts")];
  const source = readFileSync(join(PROJECT_ROOT, "tests/faults/faulty-child.ts"), "utf8");
  writeFileSync(child, source.replaceAll(/"#(shared|workers)\//g, `"${PROJECT_ROOT}/$1/`));
  writeFileSync(
    prlimit,
    `#!/bin/sh
for one do
  shift
  case "$one" in */workers/capabilities/child.ts) one='${child}' ;; esac
  set -- "$@" "$one"
done
exec '${Bun.which("prlimit") ?? ""}' "$@"
`,
    { mode: 0o755 },
  );
  const close = (): void => {
    s3.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const bench = await startCapabilityBench({
      apart: true,
      ...options,
      env: {
        PATH: `${directory}${delimiter}${process.env["PATH"] ?? ""}`,
        S3_ENDPOINT: `http://${s3.host}`,
        ...options.env,
      },
    });
    return {
      ...bench,
      s3,
      fail: (fault, key, canary = "") =>
        bench.run("code.regex", { input: { text: { text: `${fault} ${canary}` } }, params: { pattern: "a" } }, key),
      async stop() {
        await bench.stop();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
