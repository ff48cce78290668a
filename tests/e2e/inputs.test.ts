/**
 * Media that comes with calls. Links that the service hands out, sent back as inputs: every member that takes an address, by every
 * road into the service, on a stack whose guard of outbound URLs is closed. And every member in base64, however it is written.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import components from "#schemas/generated/components.json" with { type: "json" };
import { createFileLinks } from "#shared/files/links.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

type Json = Readonly<Record<string, unknown>>;

let stack: Stack;
let base: string;
let ada: Workspace;
let bob: Workspace;
let owner: Workspace;
let stranger: Workspace;
let publisher: Publisher;
/** Links of files of ada's, by what the file is. */
const links: Record<"image" | "video" | "mesh" | "page", string> = { image: "", video: "", mesh: "", page: "" };
/** Links of the same files, made two hours ago. */
const expired: Record<string, string> = {};

beforeAll(async () => {
  stack = await startStack({ pools: ["chat", "image", "audio", "video", "3d", "capability", "workflow"] });
  base = stack.baseUrls[0] ?? "";
  [ada, stranger] = await Promise.all([1, 2].map(() => createWorkspace(stack, { creditsNano: 10n ** 14n }))) as [Workspace, Workspace]; // prettier-ignore
  [bob, owner] = [await join(ada, "developer"), await join(ada, "owner")];
  publisher = await openPublisher(stack.natsUrl, ada);
  const made = async (path: string, body: Json): Promise<string> => {
    const { data } = (await answered(ada, path, body)) as { data?: readonly { url?: string; image_url?: string }[] };
    return data?.[0]?.url ?? "";
  };
  links.image = await made("/v1/images/generations", { model: "sandbox-image", prompt: "a fox", size: "512x512" });
  links.mesh = await made("/v1/3d/generations", { model: "sandbox-3d", prompt: "a fox" });
  const { id } = (await answered(ada, "/v1/videos/generations", { model: "sandbox-video", prompt: "x", duration: 2 })) as { id: string }; // prettier-ignore
  const job = await eventually("the video is made", async () => {
    const { body } = await call(ada, `/v1/images/jobs/${id}`);
    return body["status"] === "completed" && body;
  }, 60_000); // prettier-ignore
  links.video = (job["data"] as readonly { url: string }[])[0]?.url ?? "";
  const run = { params: {}, input: { markdown: { text: "# A page of the fox" } } };
  const { files } = (await answered(ada, "/v1/capabilities/document.markdown_to_html/run", run)) as { files: { url: string }[] }; // prettier-ignore
  links.page = files[0]?.url ?? "";
  // As batches and private runs keep their files: for their maker alone.
  await stack.query("update file set member_id = (select member_id from api_key where id = $2) where workspace_id = $1", [ada.id, ada.keyId]); // prettier-ignore
  const [secret] = await stack.query<{ value: Uint8Array }>("select value from service_secret where name = 'links'");
  const past = createFileLinks(secret?.value ?? new Uint8Array(), { now: () => Date.now() - 7_200_000 });
  for (const [name, link] of Object.entries(links)) expired[name] = past.url(base, ada.id, fileIdOf(link));
}, 240_000);
afterAll(async () => {
  await publisher?.close();
  await stack?.stop();
});

const fileIdOf = (link: string): string => link.split(".").at(-3) ?? "";

async function join({ id }: Workspace, role: string): Promise<Workspace> {
  const [memberId, keyId, key] = [newId(), newId(), mintKey()];
  await stack.query("insert into member (id, workspace_id, name, role) values ($1, $2, $3, $3)", [memberId, id, role]);
  await stack.query(
    "insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1, $2, $3, $4, $5, $6, 'unlimited')",
    [keyId, id, memberId, role, Buffer.from(hashKey(key)), keyHint(key)],
  );
  return { id, keyId, key };
}

async function call({ key }: Workspace, path: string, body?: object): Promise<{ status: number; body: Json }> {
  const answer = await fetch(base + path, {
    headers: { authorization: `Bearer ${key}`, ...(body instanceof FormData ? {} : { "content-type": "application/json" }) },
    ...(body ? { method: "POST", body: body instanceof FormData ? body : JSON.stringify(body) } : {}),
  }); // prettier-ignore
  return { status: answer.status, body: (await answer.json()) as Json };
}

async function answered(who: Workspace, path: string, body: object): Promise<Json> {
  const { status, body: answer } = await call(who, path, body);
  if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

const user = (...content: readonly object[]) => [
  { role: "user", content: [{ type: "text", text: "Look." }, ...content] },
];
const CHAT = { model: "sandbox-chat", max_tokens: 50 };

interface Row {
  readonly name: string;
  readonly of: keyof typeof links;
  readonly path: string;
  /** Member that an error names. */
  readonly param: string;
  readonly body: (link: string) => Json;
}

/** Every member that takes an address. */
const ROWS: readonly Row[] = [
  { name: "image_url of chat", of: "image", path: "/v1/chat/completions", param: "messages[0].content[1].image_url.url", body: (url) => ({ ...CHAT, messages: user({ type: "image_url", image_url: { url, detail: "low" } }) }) }, // prettier-ignore
  { name: "file_url of chat", of: "page", path: "/v1/chat/completions", param: "messages[0].content[1].file.file_url", body: (file_url) => ({ ...CHAT, messages: user({ type: "file", file: { file_url } }) }) }, // prettier-ignore
  { name: "file_data of chat", of: "page", path: "/v1/chat/completions", param: "messages[0].content[1].file.file_data", body: (file_data) => ({ ...CHAT, messages: user({ type: "file", file: { file_data } }) }) }, // prettier-ignore
  { name: "source of messages", of: "image", path: "/v1/messages", param: "messages[0].content[1]", body: (url) => ({ ...CHAT, messages: user({ type: "image", source: { type: "url", url } }) }) }, // prettier-ignore
  { name: "input_image of responses", of: "image", path: "/v1/responses", param: "input[0].content[0]", body: (image_url) => ({ model: "sandbox-chat", input: [{ role: "user", content: [{ type: "input_image", image_url }] }] }) }, // prettier-ignore
  { name: "input_file of responses", of: "page", path: "/v1/responses", param: "input[0].content[0]", body: (file_url) => ({ model: "sandbox-chat", input: [{ role: "user", content: [{ type: "input_file", file_url }] }] }) }, // prettier-ignore
  { name: "image_url of a video", of: "image", path: "/v1/videos/generations", param: "image_url", body: (image_url) => ({ model: "sandbox-video", prompt: "x", duration: 2, image_url }) }, // prettier-ignore
  { name: "video_url of a video", of: "video", path: "/v1/videos/generations", param: "video_url", body: (video_url) => ({ model: "sandbox-video", prompt: "x", duration: 2, video_url }) }, // prettier-ignore
  { name: "image_url of a mesh", of: "image", path: "/v1/3d/generations", param: "image_url", body: (image_url) => ({ model: "sandbox-3d", prompt: "x", image_url }) }, // prettier-ignore
  { name: "mesh_url of a mesh", of: "mesh", path: "/v1/3d/generations", param: "mesh_url", body: (mesh_url) => ({ model: "sandbox-3d-retexture", prompt: "x", mesh_url }) }, // prettier-ignore
  { name: "url of a capability", of: "image", path: "/v1/capabilities/image.metadata/run", param: "input.image.url", body: (url) => ({ params: {}, input: { image: { url } } }) }, // prettier-ignore
  { name: "address of a page", of: "page", path: "/v1/capabilities/web.to_markdown/run", param: "input.url", body: (url) => ({ params: {}, input: { url } }) }, // prettier-ignore
];
const named = ROWS.map((row) => [row.name, row] as const);

describe("a link of the service", () => {
  test.each(named)("is read as %s", async (_name, { of, path, body }) => {
    expect(links[of]).toStartWith(`${base}/v1/media/content/`);
    const answer = await answered(ada, path, body(links[of]));
    if (path !== "/v1/videos/generations") return;
    await eventually("the video is made", async () => (await call(ada, `/v1/images/jobs/${String(answer["id"])}`)).body["status"] === "completed", 60_000); // prettier-ignore
  }, 90_000); // prettier-ignore

  test.each(named)("as %s has the rights of its caller", async (_name, { of, path, param, body }) => {
    for (const [who, link] of [[bob, links[of]], [stranger, links[of]], [ada, expired[of] ?? ""]] as const) {
      const { status, body: refused } = await call(who, path, body(link));
      expect([status, refused]).toMatchObject([404, { error: { param: expect.stringContaining(param) } }]);
    }
  }); // prettier-ignore

  test.each(named)("as %s at another host is treated as any address", async (_name, { of, path, body }) => {
    for (const link of [links[of].replace("127.0.0.1", "localhost"), links[of].replace(/:\d+/, ":9")]) {
      const { status, body: refused } = await call(ada, path, body(link));
      expect([status, JSON.stringify(refused)]).toEqual([400, expect.stringContaining("URL is not allowed")]);
    }
  });

  test("of another member is read by an owner", async () => {
    await answered(owner, "/v1/capabilities/image.metadata/run", {
      params: {},
      input: { image: { url: links.image } },
    });
  });
});

const CALLS = ROWS.filter(({ path }) => path !== "/v1/messages");

describe("through other entry points", () => {
  test("a message over NATS reads it", async () => {
    const pools: Readonly<Record<string, string>> = { video: "video", "3d": "3d", capabilities: "capability" };
    const send = async ({ path, body, of }: Row): Promise<void> => {
      const [key, pool] = [newId(), pools[path.split("/")[2] ?? ""] ?? "chat"];
      const endpoint = path.replace(/capabilities\/[^/]+/, "capabilities/{id}");
      const id = /capabilities\/([^/]+)/.exec(path)?.[1];
      await publisher.submit({ endpoint, ...(id === undefined ? {} : { capability: id }), body: body(links[of]) }, { key, pool }); // prettier-ignore
      expect(await publisher.ended(key, 60_000)).toMatchObject({ key, status: "completed" });
    };
    await Promise.all(ROWS.filter(({ path }) => /chat|3d|capabilities/.test(path)).map(send));
  }, 120_000); // prettier-ignore

  test("lines of batches read it", async () => {
    const send = async (path: string): Promise<void> => {
      const rows = CALLS.filter((row) => row.path === path);
      const lines = rows.map(({ body, of }, at) => ({ custom_id: `${at}`, method: "POST", url: path, body: body(links[of]) }));
      const form = new FormData();
      form.set("purpose", "batch");
      form.set("file", new Blob([lines.map((line) => JSON.stringify(line)).join("\n")]), "lines.jsonl");
      const { id: input_file_id } = await answered(ada, "/v1/files", form);
      const { id } = await answered(ada, "/v1/batches", { input_file_id, endpoint: path, completion_window: "24h" });
      const batch = await eventually(`${path} has ended`, async () => {
        const { body } = await call(ada, `/v1/batches/${String(id)}`);
        return body["status"] === "completed" && body;
      }, 60_000);
      expect(batch["request_counts"]).toEqual({ total: rows.length, completed: rows.length, failed: 0 });
    };
    await Promise.all([...new Set(CALLS.map(({ path }) => path))].map(send));
  }, 240_000); // prettier-ignore

  test("a step of a workflow reads it from the input of its run", async () => {
    const step = (of: keyof typeof links, name: string) =>
      ROWS.find((row) => row.name === name)?.body(`\${{ inputs.${of} }}`) as Json & { readonly model: string };
    const { model: chatModel, ...chat } = step("image", "image_url of chat");
    const { model: meshModel, ...mesh } = step("mesh", "mesh_url of a mesh");
    const steps = [
      { id: "say", type: "model", model: chatModel, params: chat },
      { id: "mesh", type: "model", model: meshModel, params: mesh },
      { id: "facts", type: "image.metadata", ...step("image", "url of a capability") },
    ];
    const { id } = await answered(ada, "/v1/workflows", { name: "links", definition: { inputs: { image: { type: "string" }, mesh: { type: "string" } }, steps } });
    const run = await answered(ada, `/v1/workflows/${String(id)}/runs`, { mode: "sync", input: { image: links.image, mesh: links.mesh } });
    expect(run).toMatchObject({ status: "succeeded" });
  }, 90_000); // prettier-ignore
});

describe("media in base64", () => {
  const canvas = sharp({ create: { width: 256, height: 256, channels: 4, background: "#00808080" } });
  /** Media by its type. */
  const BYTES: Readonly<Record<string, () => Promise<Uint8Array>>> = {
    "image/jpeg": () => canvas.clone().jpeg().toBuffer(),
    "image/webp": () => canvas.clone().webp().toBuffer(),
    "image/png": () => canvas.clone().png().toBuffer(),
    "audio/wav": () => Promise.resolve(wavOf(1)),
  };
  const edit = { model: "sandbox-image", prompt: "in red", size: "256x256" };
  const png = async (): Promise<string> => Buffer.from((await BYTES["image/png"]?.()) ?? "").toString("base64");
  interface Base64Row {
    readonly path: string;
    /** Member with the type. */
    readonly typeParam: string;
    readonly types: readonly string[];
    readonly body: (base64: string, type: object) => Promise<object> | object;
  }
  const images = ["image/jpeg", "image/webp", "image/png"];
  const MEMBERS: Readonly<Record<string, Base64Row>> = {
    image_base64: { path: "/v1/images/edits", typeParam: "image_mime_type", types: ["image/jpeg", "image/webp"], body: (image_base64, type) => ({ ...edit, image_base64, ...type }) }, // prettier-ignore
    mask_base64: { path: "/v1/images/edits", typeParam: "mask_mime_type", types: ["image/webp", "image/png"], body: async (mask_base64, type) => ({ ...edit, image_base64: await png(), mask_base64, ...type }) }, // prettier-ignore
    audio_base64: { path: "/v1/audio/transcriptions", typeParam: "mime_type", types: ["audio/wav"], body: (audio_base64, type) => ({ model: "sandbox-stt", audio_base64, ...type }) }, // prettier-ignore
    base64: { path: "/v1/capabilities/image.metadata/run", typeParam: "mime_type", types: images, body: (base64, type) => ({ params: {}, input: { image: { base64, ...type } } }) }, // prettier-ignore
  };

  test("in the members of this test", () => {
    const requests = Object.entries(components.schemas).filter(([name]) => name.endsWith("Request"));
    const found = requests.flatMap(([, schema]) => Object.keys((schema as { properties?: object }).properties ?? {}));
    const names = found.filter((name) => name.endsWith("base64"));
    expect(names.filter((name) => !Object.hasOwn(MEMBERS, name))).toEqual([]);
  });

  const rows = Object.entries(MEMBERS).flatMap(([name, row]) => row.types.map((type) => [name, type, row] as const));
  test.each(rows)("as %s of %s is read in every spelling", async (_name, type, { path, typeParam, body }) => {
    const base64 = Buffer.from((await BYTES[type]?.()) ?? "").toString("base64");
    const ways: readonly (readonly [string, object])[] = [
      [base64, {}],
      [base64, { [typeParam]: type }],
      [`data:${type};base64,${base64}`, {}],
      [`DATA:${type};charset=utf-8;BASE64,${base64}`, {}],
      [`data:;base64,${base64}`, {}],
      [`data:${type};base64,${base64}`, { [typeParam]: type }],
    ];
    await Promise.all(ways.map(async ([text, more]) => answered(ada, path, await body(text, more))));
  }, 30_000); // prettier-ignore

  test.each(Object.entries(MEMBERS))("as %s is rejected if it is not base64", async (name, { path, body }) => {
    for (const text of [
      "data:image/png,plain",
      "data:image/png;base64,",
      "data:image/png;base64,%%%",
      "data:",
      "???",
    ]) {
      const { status, body: refused } = await call(ada, path, await body(text, {}));
      expect([text, status, refused]).toMatchObject([text, 422, { error: { code: "unprocessable_input", param: expect.stringContaining(name) } }]); // prettier-ignore
    }
  });
});
