/** Provides an address that neither accepts nor refuses connections: a listener with a full backlog that accepts no connection. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

/** Program that listens, prints its port and then blocks. It exits after five minutes if the test does not stop it. */
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
  const [output] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(output.toString());
  // The listener accepts nothing, but the system does until its queue of two is full.
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
