/** A stack whose children of capabilities have one that fails as it is told (faulty-child.ts), behind a proxy before the object store. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type CapabilityBench, startCapabilityBench } from "#tests/e2e/capabilities/bench.ts";
import { sharedS3Url, temporaryDirectory } from "#tests/support/infrastructure.ts";
import type { StackOptions } from "#tests/support/stack.ts";
import { startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";

export interface FaultyBench extends CapabilityBench {
  readonly s3: TcpProxy;
  /** A run that fails so; `canary` stands in its text. */
  fail(fault: string, key?: string, canary?: string): Promise<Response>;
}

/**
 * Children are started through `prlimit`, which is looked for in the worker's PATH: one stands there that names another script
 * and then does what it is asked. Nothing else stands there: children that are isolated would not see the script of a test.
 */
export async function startFaultyBench(options: StackOptions = {}): Promise<FaultyBench> {
  const { directory, remove } = temporaryDirectory();
  const s3 = startTcpProxy(new URL(await sharedS3Url()).host);
  const prlimit = join(directory, "prlimit");
  writeFileSync(
    prlimit,
    `#!/bin/sh
for one do
  shift
  case "$one" in */workers/capabilities/child.ts) one='${fileURLToPath(new URL("faulty-child.ts", import.meta.url))}' ;; esac
  set -- "$@" "$one"
done
exec '${Bun.which("prlimit") ?? ""}' "$@"
`,
    { mode: 0o755 },
  );
  const close = (): void => {
    s3.close();
    remove();
  };
  try {
    const bench = await startCapabilityBench({
      ...options,
      env: {
        PATH: directory,
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
