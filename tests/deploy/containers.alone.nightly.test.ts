/** The commands at the head of compose.yaml, run by a Docker engine: image, start, first calls, stop, and admin commands. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import sharp from "sharp";

import { eventually } from "#tests/faults/wait.ts";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

import { type Engine, startEngine, whyNot } from "./containers/engine.ts";
import { buildStandIns } from "./containers/images.ts";
import { copiedPaths, readStages } from "./image/dockerfile.ts";

const reason = await whyNot();
if (reason !== undefined) process.stderr.write(`compose.yaml is not tried with an engine: ${reason}\n`);
const step = test.skipIf(reason !== undefined);

const IMAGE = "sluice:local";
const MODEL = "gpt-5.4-mini";
const STREAM_MS = 12_000;
/** More than 32 days ago, which is the youngest usage that an archive takes. */
const LONG_AGO = new Date(Math.floor(Date.now() / 86_400_000 - 40) * 86_400_000);

const read = (path: string): string => readFileSync(join(PROJECT_ROOT, path), "utf8");
const compose = Bun.YAML.parse(read("deploy/compose.yaml")) as { services: Record<string, { image: string }> };
/** The commands that the head of the file leads through. */
const [BUILD = "", MAKE_ENV = "", UP = ""] = [
  ...read("deploy/compose.yaml").matchAll(/^# {3}(docker .*?)(?: {2,}#.*)?$/gm),
].map(([, command = ""]) => command);

// On a disk: images and volumes take some gigabytes.
const { directory: folder, remove } = temporaryDirectory("/var/tmp");
const project = join(folder, "project");
const COMPOSE = "docker compose -f deploy/compose.yaml -f ../overlay.json";
let engine: Engine | undefined;
let port = "";
let key = "";

/** Runs a command of the project's folder in the engine's namespaces. */
function sh(command: string, timeoutMs?: number): Promise<string> {
  if (engine === undefined) throw new Error("the engine has not started");
  return engine.sh(command, { cwd: project, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
}

const admin = (command: string): Promise<string> => sh(`${COMPOSE} run --rm admin ${command}`);

function call(path: string, body?: object | FormData): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`http://localhost:8080${path}`, {
    unix: port,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { method: "POST", body: isForm ? body : JSON.stringify(body) }),
  });
}

/** @throws Error with the answer unless it is 200 or 201 */
async function answer<T>(path: string, body?: object | FormData): Promise<T> {
  const response = await call(path, body);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function upload(name: string, content: string | Uint8Array<ArrayBuffer>, purpose: string): Promise<string> {
  const form = new FormData();
  form.set("purpose", purpose);
  form.set("file", new File([content], name));
  return (await answer<{ id: string }>("/v1/files", form)).id;
}

const chat = (content: string, stream: boolean): object => ({
  model: MODEL,
  stream,
  messages: [{ role: "user", content }],
});

/** Containers of the roles, by the id of each. */
async function roles(): Promise<readonly { readonly id: string; readonly name: string; readonly exitCode: number }[]> {
  const ids = await sh(
    `docker ps -aq --no-trunc --filter ancestor=${IMAGE} --filter label=com.docker.compose.oneoff=False`,
  );
  const lines = await sh(`docker inspect -f '{{.Id}} {{.Name}} {{.State.ExitCode}}' ${ids.split("\n").join(" ")}`);
  return lines.split("\n").map((line) => {
    const [id = "", name = "", exitCode = ""] = line.split(" ");
    return { id, name, exitCode: Number(exitCode) };
  });
}

beforeAll(async () => {
  if (reason !== undefined) return;
  const parts = [
    ...copiedPaths(),
    ".dockerignore",
    ...["compose.yaml", "Dockerfile", "seccomp.json", "nats"].map((name) => `deploy/${name}`),
  ];
  for (const part of new Set(parts)) cpSync(join(PROJECT_ROOT, part), join(project, part), { recursive: true });
  // The user's files, which must not enter an image.
  for (const name of [".env", ".env.bak"]) writeFileSync(join(project, "deploy", name), "POSTGRES_PASSWORD=secret\n");
  const images = Object.fromEntries(Object.entries(compose.services).map(([name, { image }]) => [name, image]));
  engine = await startEngine(folder, "host");
  await buildStandIns(engine, folder, images);
  await sh(BUILD.replace("build", "build --network host"), 600_000);
  // The classic builder reads another ignore file: it is asked for everything that it is sent.
  await sh(`printf 'FROM ${readStages()[0]?.base}\\nCOPY . /sent\\n' > ../Dockerfile.sent`);
  await sh("DOCKER_BUILDKIT=0 docker build -f ../Dockerfile.sent -t sent .");
}, 1_800_000);

afterAll(async () => {
  await engine?.stop();
  remove();
}, 120_000);

step(
  "no .env enters the image, with BuildKit and with the classic builder",
  async () => {
    const find = (image: string, where: string): Promise<string> =>
      sh(
        `docker run --rm --network none --entrypoint find ${image} ${where} -name '.env*' -not -path '*/node_modules/*'`,
      );
    expect([await find(IMAGE, "/app"), await find("sent", "/sent")]).toEqual(["", ""]);
    expect(await sh("docker run --rm --network none sent ls /sent/deploy")).toContain("sluice.ts");
  },
  60_000,
);

step(
  "the head of compose.yaml leads from a whole .env to healthy services",
  async () => {
    await sh(MAKE_ENV);
    const env = readFileSync(join(project, "deploy/.env"), "utf8");
    const required = [...read("deploy/compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    for (const name of new Set(required)) expect(env).toMatch(new RegExp(`^${name}=.+$`, "m"));
    key = /^SLUICE_BOOTSTRAP_KEY=(.+)$/m.exec(env)?.[1] ?? "";
    const file = env.replace("OPENAI_API_KEY=", "OPENAI_API_KEY=stand-in\nSLUICE_CATALOGUE=/etc/sluice/catalogue.yaml");
    writeFileSync(join(project, "deploy/.env"), file);
    await addProvider();
    // The engine of the build has no bridge; this one has, in a network of its own.
    await engine?.stop();
    engine = await startEngine(folder, "own");
    await sh(UP.replace(/^docker compose -f \S+/, COMPOSE), 900_000).catch(async (error: unknown) => {
      throw new Error(await sh(`${COMPOSE} logs --no-color --tail 3`), { cause: error });
    });
    const states = await sh(
      `docker ps -a --format '{{.Image}} {{.State}} {{.Status}}' --filter label=com.docker.compose.project`,
    );
    for (const line of states.split("\n"))
      expect(line).toMatch(/\(healthy\)$|^sluice:local exited Exited \(0\)|^oven\/bun\S+ running/);
    expect(states.split("\n").length).toBeGreaterThan(20);
    port = await engine.openPort(8080);
  },
  1_000_000,
);

step(
  "roles run as user 1000 with no capability, and can get none",
  async () => {
    const running = (await roles()).filter(({ name }) => !name.includes("-migrate-"));
    expect(running.length).toBeGreaterThan(20);
    for (const { id, name } of running) {
      const status = await sh(`docker exec ${id} cat /proc/1/status`);
      const fields = Object.fromEntries(status.split("\n").map((line) => line.split(/:\s+/)));
      expect({ name, ...fields }).toMatchObject({
        name,
        Uid: "1000\t1000\t1000\t1000",
        CapPrm: "0000000000000000",
        CapEff: "0000000000000000",
        CapBnd: "0000000000000000",
        NoNewPrivs: "1",
      });
    }
  },
  60_000,
);

step(
  "the first calls: models, an answer, a stream, a batch with its output file",
  async () => {
    const { data } = await answer<{ data: { id: string }[] }>("/v1/models");
    expect(data.map(({ id }) => id)).toContain(MODEL);
    const reply = await answer<{ choices: { message: { content: string } }[] }>(
      "/v1/chat/completions",
      chat("0", false),
    );
    expect(reply.choices[0]?.message.content).toBe("Exact prepaid billing.");
    const stream = await (await call("/v1/chat/completions", chat("0", true))).text();
    expect(stream).toContain(" prepaid");
    expect(stream.trimEnd()).toEndWith("data: [DONE]");
    const line = { custom_id: "one", method: "POST", url: "/v1/chat/completions", body: chat("0", false) };
    const input = await upload("lines.jsonl", `${JSON.stringify(line)}\n`, "batch");
    const { id } = await answer<{ id: string }>("/v1/batches", {
      input_file_id: input,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    const output = await eventually(
      "the batch is completed",
      async () => {
        const batch = await answer<{ status: string; output_file_id?: string }>(`/v1/batches/${id}`);
        return batch.status === "completed" && batch.output_file_id;
      },
      60_000,
    );
    const written = JSON.parse(await (await call(`/v1/files/${output}/content`)).text()) as object;
    expect(written).toMatchObject({ custom_id: "one", response: { status_code: 200 } });
  },
  120_000,
);

step(
  "a capability of native code works in its sandbox",
  async () => {
    const workers = (await roles()).filter(({ name }) => name.includes("-worker-capability-"));
    expect(workers).toHaveLength(2);
    for (const { id } of workers) {
      const lines = (await sh(`docker logs ${id} 2>&1`)).split("\n");
      expect(lines.find((line) => line.includes("capability sandbox active"))).toContain('"namespaces":true');
    }
    const photo = await upload("photo.png", await sharp({ create: { width: 8, height: 4, channels: 3, background: "red" } }).png().toBuffer(), "user_data"); // prettier-ignore
    const run = await answer<{ files: { content_type: string }[] }>("/v1/capabilities/image.resize/run", {
      input: { image: { file_id: photo } },
      params: { width: 4 },
    });
    expect(run.files).toMatchObject([{ content_type: "image/png" }]);
  },
  120_000,
);

step(
  "the file of an archive of old usage is on the host, and the books are exact",
  async () => {
    const files = join(project, "deploy/files");
    mkdirSync(files);
    chownSync(files, 1000, 1000);
    const before = new Date(LONG_AGO.getTime() + 86_400_000).toISOString().slice(0, 10);
    const archive = (to: string): Promise<string> => admin(`ledger archive --before ${before} --to ${to}`);
    expect(await archive("/tmp/usage.jsonl").catch(String)).toContain("expected a folder on a disk");
    await archive("/files/usage.jsonl");
    expect(existsSync(join(files, "usage.jsonl"))).toBe(true);
    expect(await admin("credits check")).toContain("every balance matches the ledger");
  },
  120_000,
);

step(
  "a stop ends a stream whole within the grace, and every role with 0; the books are exact at the end",
  async () => {
    const response = await call("/v1/chat/completions", chat(String(STREAM_MS), true));
    expect(response.status).toBe(200);
    const [stream] = await Promise.all([response.text(), sh(`${COMPOSE} stop`)]);
    expect(stream.trimEnd()).toEndWith("data: [DONE]");
    expect((await roles()).filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expect(await admin("credits check")).toContain("every balance matches the ledger");
  },
  180_000,
);

/** Adds a provider to the services, and a catalogue that names it to every role. */
async function addProvider(): Promise<void> {
  cpSync(join(import.meta.dir, "containers/provider.ts"), join(folder, "provider.ts"));
  writeFileSync(join(folder, "catalogue.yaml"), "providers: [{ id: openai, base_url: http://provider:8000/v1 }]\n");
  const volumes = [`${folder}/catalogue.yaml:/etc/sluice/catalogue.yaml:ro`];
  // Beside other tests, a worker tries the engines of capabilities for longer than the file allows.
  const patient = { healthcheck: { start_period: "900s" } };
  const [first] = readStages();
  const services: Record<string, object> = {
    provider: {
      image: first?.base,
      command: ["bun", "/provider.ts"],
      stop_grace_period: "45s",
      volumes: [`${folder}/provider.ts:/provider.ts:ro`],
    },
  };
  for (const [name, { image }] of Object.entries(compose.services))
    if (image === IMAGE) services[name] = { volumes, ...(name === "worker-capability" ? patient : {}) };
  await Bun.write(join(folder, "overlay.json"), JSON.stringify({ services }));
}
