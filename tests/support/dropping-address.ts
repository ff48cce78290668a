/** An address at which connections are neither taken nor refused: a listener that accepts nothing, whose backlog is full. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

/** Tells its port and stands still, for a few minutes at most: it ends by itself where its test did not. */
const LISTENER = `
  const server = require("node:net").createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    require("node:fs").writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300_000);
    process.exit();
  });
`;

export interface DroppingAddress {
  readonly url: string;
  close(): void;
}

export async function openDroppingAddress(): Promise<DroppingAddress> {
  const child = spawn("node", ["-e", LISTENER], { stdio: ["ignore", "pipe", "inherit"] });
  const [told] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(told.toString());
  // It takes nothing; the system still does, until its queue of two is full.
  const queued = [1, 2, 3, 4].map(() => connect({ host: "127.0.0.1", port }));
  for (const socket of queued) socket.on("error", () => undefined);
  await Promise.all(queued.slice(0, 2).map((socket) => once(socket, "connect")));
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of queued) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}
