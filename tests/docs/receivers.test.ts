/** The receivers of the page on webhooks, run unchanged against deliveries that are signed as the service signs them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { launch, launchUntil, run } from "#deploy/embedded/process.mjs";
import { envelopeText } from "#shared/notifications/envelope.ts";
import { newSigningSecret, signatureHeaders } from "#shared/secrets/signature.ts";
import { newId } from "#shared/base/ids.ts";
import { eventually } from "#tests/faults/wait.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import { blocks } from "./notifications-page.ts";

const [node = "", standard = ""] = blocks("js");
const [python = ""] = blocks("python");
const [go = ""] = blocks("go");

let folder: string;
beforeAll(() => {
  // Inside the project, so that the receivers find the packages they import.
  folder = mkdtempSync(join(PROJECT_ROOT, "node_modules", ".receivers-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const goProgram = Bun.which("go");
const pythonProgram = Bun.which("python3");
const BUILD_MS = 180_000;

describe("the receiver", () => {
  test("for Node accepts signed deliveries only", () => expectSignedOnly(receiverFile("node.mjs", node, "node")));

  test("for Node with standardwebhooks accepts signed deliveries only", () =>
    expectSignedOnly(receiverFile("standard.mjs", standard, "node"), "webhook-signature"));

  test.skipIf(pythonProgram === null)(
    named("for Python accepts signed deliveries only", "python3", pythonProgram),
    () => expectSignedOnly(receiverFile("receiver.py", python, "python3")),
  );

  test.skipIf(goProgram === null)(
    named("for Go accepts signed deliveries only", "go", goProgram),
    async () => {
      const [, file = ""] = receiverFile("receiver.go", go, "go");
      const program = join(folder, "receiver");
      const env = { ...process.env, GOCACHE: join(folder, "go-cache"), GOTOOLCHAIN: "local" };
      const args = ["build", "-o", program, file];
      const built = await run({ name: "go build", command: goProgram ?? "", args, cwd: folder, env });
      expect(built).toMatchObject({ code: 0, stderr: "" });
      await expectSignedOnly([program]);
    },
    BUILD_MS,
  );
});

/** Returns the name of a test, with the reason when it is skipped. */
function named(name: string, program: string, found: string | null): string {
  return found === null ? `${name} (skipped: there is no ${program} on this machine)` : name;
}

function receiverFile(name: string, text: string, program: string): readonly [program: string, ...args: string[]] {
  const file = join(folder, name);
  writeFileSync(file, text);
  return [program, file];
}

/** Sends a signed delivery, and deliveries that differ from it in one way each. */
async function expectSignedOnly(
  [command, ...args]: readonly [program: string, ...args: string[]],
  header = "x-webhook-signature",
): Promise<void> {
  const secret = newSigningSecret();
  const env = { ...process.env, SIGNING_SECRET: secret, PORT: "0" };
  const launched = await launchUntil(
    (onLine) => launch({ name: command, command, args, cwd: folder, env, onLine }),
    (line) => /^listening on (\d+)$/.exec(line)?.[1] ?? null,
    20_000,
  );
  const { running, value: port } = launched;
  try {
    const deliveryId = newId();
    const body = bodyOf(deliveryId);
    const timestamp = Math.floor(Date.now() / 1_000);
    const signed = (by: string) => signatureHeaders({ secret: by, id: deliveryId, timestamp, body });
    const send = async (sent: string, headers: Record<string, string>): Promise<number> => {
      const type = { "content-type": "application/json" };
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        headers: { ...headers, ...type },
        body: sent,
      });
      await answer.body?.cancel();
      return answer.status;
    };
    await breakOff(Number(port));
    const { [header]: signature = "", ...unsigned } = signed(secret);
    const shifted = signature.startsWith("v1,") ? "v1,AAAA" : "00";
    expect({
      signed: await send(body, signed(secret)),
      "with a changed byte": await send(body.replace("Zürich", "Zurich"), signed(secret)),
      "by another secret": await send(body, signed(newSigningSecret())),
      "without the header": await send(body, unsigned),
      "with an empty header": await send(body, { ...unsigned, [header]: "" }),
      "with a short signature": await send(body, { ...unsigned, [header]: shifted }),
      "with a signature that is none": await send(body, { ...unsigned, [header]: "ü~" }),
      "signed, again": await send(body, signed(secret)),
    }).toEqual({
      signed: 204,
      "with a changed byte": 401,
      "by another secret": 401,
      "without the header": 401,
      "with an empty header": 401,
      "with a short signature": 401,
      "with a signature that is none": 401,
      "signed, again": 204,
    });
    const printed = () => running.lines().filter((line) => line.includes(deliveryId)).length;
    await eventually("both deliveries are printed", () => printed() === 2);
  } finally {
    await running.stop();
  }
}

/** Sends a request whose body ends early, which must not end a receiver. */
async function breakOff(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
  await new Promise((resolve) => socket.write(`${head}{"event"`, resolve));
  socket.destroy();
}

function bodyOf(deliveryId: string): string {
  const metadata = { runId: newId(), note: "Zürich 🙂" };
  return envelopeText({ event: "run.succeeded", deliveryId, workspaceId: newId(), occurredAt: new Date(), metadata });
}
