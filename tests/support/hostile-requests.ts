/**
 * Requests with which one caller tries to occupy an ingress's thread: huge bodies of many small values, invalid forms, and expensive
 * definitions and estimates. None of them costs credits. Also contains valid requests of the maximum size.
 */

export interface HeavyRequest {
  readonly path: string;
  /** Content type of the body. Default: JSON. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the body when it is sent. It is not stored, because bodies have up to 32 MB. */
  readonly body: () => string | Uint8Array<ArrayBuffer>;
  /** Number of copies that are sent at the same time. Default: 1. */
  readonly times?: number;
  /** Response statuses that the test accepts. */
  readonly statuses: readonly number[];
}

type Requests = Readonly<Record<string, HeavyRequest>>;

/** Sends the request `times` times, reads the responses, and returns their statuses. */
export function sendHeavy(url: string, key: string, request: HeavyRequest): Promise<number[]> {
  const { path, contentType = "application/json", headers = {}, times = 1 } = request;
  const body = request.body();
  const send = async (): Promise<number> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": contentType, ...headers },
      body,
      keepalive: false,
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  return Promise.all(Array.from({ length: times }, send));
}

const MB = 1_048_576;
/** Size of the repeated part of a body, in bytes: the maximum size of a body, minus 1 KB for the text around it. */
const FULL = 32 * MB - 1_024;

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const EMBEDDINGS = "/v1/embeddings";
const EDITS = "/v1/images/edits";
const WORKFLOWS = "/v1/workflows";
const FORM = "multipart/form-data; boundary=x";
const MODEL = '"model":"sandbox-chat"';
const ASK = `${MODEL},"messages":[{"role":"user","content":"hello"}]`;
/** Statuses of a rejection: the size or format is invalid, or the workspace has other requests in progress. A 500 is never allowed. */
const REFUSED = [400, 413, 503];
const TAKEN_OR_REFUSED = [200, ...REFUSED];

/** Repeats `one` up to the requested size, and removes the last comma. */
function filled(one: string, bytes = FULL): string {
  return one.repeat(Math.floor(bytes / one.length)).slice(0, -1);
}

/** Returns `count` JSON members with different names. */
function members(count: number): string {
  return Array.from({ length: count }, (_one, at) => `"k${at.toString(36)}":${at % 10}`).join(",");
}

/** Returns member names that differ only in their last letters, in random order. */
function longNames(count: number, letters: number): string {
  const stem = "k".repeat(letters);
  return Array.from({ length: count }, (_one, at) => `"${stem}${((at * 7_919) % 99_991).toString(36)}":1`).join(",");
}

/** Returns integers, each of which parses to a different double. */
function longIntegers(count: number): string {
  return Array.from({ length: count }, (_one, at) => String(900_719_925_474_099_300n + BigInt(at) * 1_024n)).join(",");
}

function tokens(count: number): string {
  return Array.from({ length: count }, (_one, at) => `"${at}":1`).join(",");
}

/** Returns a text that contains no words of a vocabulary. The text is always the same. */
function consonants(count: number): string {
  const letters = "bcdfghjklmnpqrstvwxz";
  let seed = 1;
  let text = "";
  for (let at = 0; at < count; at += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += letters[(seed >> 8) % letters.length];
  }
  return text;
}

/** Returns base64 of bytes that begin like an image. */
function encoded(length: number): string {
  const bytes = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from(consonants(49_144))]);
  const text = bytes.toString("base64");
  return text.repeat(Math.ceil(length / text.length)).slice(0, Math.floor(length / 4) * 4);
}

function chatOf(...parts: readonly string[]): string {
  return `"messages":[{"role":"user","content":[${parts.join(",")}]}]`;
}

/** Returns the body of a run of one step with this input. The run has no effect. */
function runOf(type: string, input: string): string {
  const step = `{"id":"s","type":"model","model":"sandbox-chat","if":false,"params":{"messages":[{"role":"user","content":"x"}]}}`;
  return `{"mode":"async","definition":{"inputs":{"a":{"type":"${type}"}},"steps":[${step}]},"input":{"a":${input}}}`;
}

/** Returns a definition that contains this expression as often as allowed. */
function definitionOf(expression: string): string {
  const stop = Array.from({ length: Math.floor(230_000 / (expression.length + 3)) }, () => expression);
  const params = { messages: [{ role: "user", content: "x" }], stop };
  return JSON.stringify({
    name: "x",
    definition: { steps: [{ id: "s", type: "model", model: "sandbox-chat", params }] },
  });
}

function ones(count: number): string {
  return Array.from({ length: count }, () => "1").join("+");
}

function estimateOf(steps: number, items: number): string {
  const content = "${{ item + inputs.list.size() }} ${{ inputs.list.map(x, x * item).size() }}";
  const params = { messages: [{ role: "user", content }] };
  const step = { type: "model", model: "sandbox-chat", for_each: "${{ inputs.list }}", params };
  return JSON.stringify({
    definition: {
      inputs: { list: { type: "array" } },
      steps: Array.from({ length: steps }, (_one, at) => ({ id: `s${at}`, ...step })),
    },
    input: { list: Array.from({ length: items }, (_one, at) => at) },
  });
}

function junkForm(name: string): Uint8Array<ArrayBuffer> {
  const part = `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${"j".repeat(MB - 1)}\r\n`;
  return new Uint8Array(Buffer.from(`${part.repeat(19)}--x--\r\n`));
}

export const HOSTILE_REQUESTS: Requests = {
  "32 MB of numbers and a wrong last character": {
    path: CHAT,
    body: () => `{"a":[${filled("1,")}}`,
    statuses: REFUSED,
  },
  "32 MB of token numbers and a wrong last character": {
    path: EMBEDDINGS,
    body: () => `{"input":[${filled(`[${filled("1,", 16_380)}],`)}}`,
    statuses: REFUSED,
  },
  "32 MB of numbers": { path: CHAT, body: () => `{${ASK},"a":[${filled("1,")}]}`, statuses: REFUSED },
  "32 MB of nulls": { path: CHAT, body: () => `{${ASK},"a":[${filled("null,")}]}`, statuses: REFUSED },
  "32 MB of blanks": { path: CHAT, body: () => `{${ASK}${" ".repeat(FULL)}}`, statuses: TAKEN_OR_REFUSED },
  "1.9 million members in args": {
    path: "/v1/capabilities/code.run_javascript/run",
    body: () => `{"input":{"code":{"text":"1"}},"params":{"args":{${members(1_900_000)}}}}`,
    statuses: REFUSED,
  },
  "2 million unknown members": { path: CHAT, body: () => `{${ASK},${members(2_000_000)}}`, statuses: REFUSED },
  "270,000 arrays of depth 60": {
    path: CHAT,
    body: () => `{${ASK},"a":[${filled(`${"[".repeat(60)}${"]".repeat(60)},`)}]}`,
    statuses: REFUSED,
  },
  "a million messages": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[${filled('{"role":"user","content":""},')}]}`,
    statuses: REFUSED,
  },
  "a million blocks": {
    path: "/v1/messages",
    body: () => `{${MODEL},"max_tokens":1,${chatOf(filled('{"type":"text","text":"a"},'))}}`,
    statuses: REFUSED,
  },
  "a million items of a response": {
    path: RESPONSES,
    body: () => `{${MODEL},"input":[${filled('{"role":"user","content":""},')}]}`,
    statuses: REFUSED,
  },
  "270,000 parts of depth 60 in a response": {
    path: RESPONSES,
    body: () => `{${MODEL},"input":[{"role":"user","content":[${filled(`${"[".repeat(59)}${"]".repeat(59)},`)}]}]}`,
    statuses: REFUSED,
  },
  "32 MB of labels of a conversation": {
    path: "/v1/conversations",
    body: () => `{"metadata":{${tokens(1_000_000)}}}`,
    statuses: REFUSED,
  },
  "a million of logit_bias": {
    path: CHAT,
    body: () => `{${ASK},"logit_bias":{${tokens(1_000_000)}}}`,
    statuses: REFUSED,
  },
  "32 MB of escapes": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${String.raw`\"`.repeat(FULL / 2)}"}]}`,
    statuses: REFUSED,
  },
  "32 MB of token numbers of one digit": {
    path: EMBEDDINGS,
    body: () => `{"model":"sandbox-embed","input":[${filled(`[${filled("1,", 16_380)}],`)}]}`,
    statuses: TAKEN_OR_REFUSED,
  },
  "a definition of 32 MB": {
    path: WORKFLOWS,
    body: () => `{"name":"x","definition":{"steps":[{"id":"s","type":"model","params":{"a":[${filled("1,")}]}}]}}`,
    statuses: REFUSED,
  },
  "an input of a run with 4 MB of members": {
    path: "/v1/pipelines/runs",
    body: () => runOf("object", `{${members(350_000)}}`),
    statuses: REFUSED,
  },
  "a run with 99,000 names of 310 letters under a key": {
    path: "/v1/pipelines/runs",
    headers: { "idempotency-key": "names" },
    body: () => runOf("object", `{${longNames(99_000, 310)}}`),
    statuses: REFUSED,
  },
  "a run with a text of 32 MB under a key": {
    path: "/v1/pipelines/runs",
    headers: { "idempotency-key": "text" },
    body: () => runOf("string", `"${"x".repeat(FULL)}"`),
    statuses: REFUSED,
  },
  "190,000 long integers and 28 MB of blanks in Anthropic's form": {
    path: "/v1/messages",
    body: () => {
      const tool = `{"name":"t","input_schema":{"type":"object","x":[${longIntegers(190_000)}]}}`;
      return `{${MODEL},"max_tokens":5,"messages":[{"role":"user","content":"x"}],"tools":[${tool}]${" ".repeat(28 * MB)}}`;
    },
    statuses: REFUSED,
  },
  "an estimate of a chat of 32 MB": {
    path: "/v1/models/sandbox-chat/estimate",
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${"the quick brown fox ".repeat(FULL / 20)}"}]}`,
    statuses: TAKEN_OR_REFUSED,
  },
  "twenty forms of junk fields": {
    path: "/v1/files",
    contentType: FORM,
    body: () => junkForm("junk"),
    times: 20,
    statuses: REFUSED,
  },
  "twenty forms of fields too long": {
    path: "/v1/audio/transcriptions",
    contentType: FORM,
    body: () => junkForm("prompt"),
    times: 20,
    statuses: REFUSED,
  },
  "ten definitions of expressions that compute": {
    path: WORKFLOWS,
    body: () => definitionOf("${{cel.bind(a,[1,1,1,1,1,1,1,1,1],a.map(x,a.map(y,a.map(z,1)))).size()}}"),
    times: 10,
    statuses: REFUSED,
  },
  "ten definitions of expressions to parse": {
    path: WORKFLOWS,
    body: () => definitionOf(`\${{${ones(30)}}}`),
    times: 10,
    statuses: [201, ...REFUSED],
  },
  "ten definitions of expressions that are none": {
    path: WORKFLOWS,
    body: () => definitionOf(`\${{${ones(35)}+}}`),
    times: 10,
    statuses: REFUSED,
  },
  "twenty estimates of 100 steps over a list of 400": {
    path: "/v1/workflows/estimate",
    body: () => estimateOf(100, 400),
    times: 20,
    statuses: TAKEN_OR_REFUSED,
  },
  "twenty counts of a megabyte of consonants": {
    path: "/v1/messages/count_tokens",
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${consonants(MB - 200)}"}]}`,
    times: 20,
    statuses: TAKEN_OR_REFUSED,
  },
};

export const LARGE_REQUESTS: Requests = {
  "an image of 20 MB to be edited, as PHP writes it": {
    path: EDITS,
    body: () => {
      const image = encoded(20 * MB).replaceAll("/", String.raw`\/`);
      return `{"model":"sandbox-image","prompt":"x","image_base64":"${image}"}`;
    },
    statuses: [200, 422],
  },
  "images of 30 MB in a chat": {
    path: CHAT,
    body: () => {
      const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,${encoded(10 * MB)}"}}`;
      return `{"model":"sandbox-vision",${chatOf(image, image, image)}}`;
    },
    statuses: [200, 400],
  },
  "a document of 31 MB in Anthropic's form": {
    path: "/v1/messages",
    body: () => {
      const source = `{"type":"base64","media_type":"application/pdf","data":"${encoded(31 * MB)}"}`;
      return `{"model":"sandbox-documents","max_tokens":5,${chatOf(`{"type":"document","source":${source}}`)}}`;
    },
    statuses: [200, 400],
  },
  "audio of 31 MB to be transcribed": {
    path: "/v1/audio/transcriptions",
    body: () => `{"model":"sandbox-stt","audio_base64":"${encoded(31 * MB)}"}`,
    statuses: [200, 422],
  },
  "two files of 10 MB for a capability": {
    path: "/v1/capabilities/archive.create/run",
    body: () => {
      const file = `{"base64":"${encoded(13.3 * MB)}"}`;
      return `{"input":{"files":[${file},${file}]},"params":{},"async":true}`;
    },
    statuses: [202],
  },
  "2,048 texts of 15 KB to be embedded": {
    path: EMBEDDINGS,
    body: () => {
      const text = `"${"some text ".repeat(1_500)}"`;
      return `{"model":"sandbox-embed","input":[${Array.from({ length: 2_048 }, () => text).join(",")}]}`;
    },
    statuses: [200],
  },
  "32 MB of token numbers to be embedded": {
    path: EMBEDDINGS,
    body: () => `{"model":"sandbox-embed","input":[${filled(`[${filled("12345,", 48_000)}],`)}]}`,
    statuses: [200],
  },
  "39,000 messages, the last of them wrong": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[${'{"role":"user","content":""},'.repeat(39_000)}{"role":"none"}]}`,
    statuses: [400],
  },
  "39,000 blocks in Anthropic's form": {
    path: "/v1/messages",
    body: () => `{${MODEL},"max_tokens":1,${chatOf(filled('{"type":"text","text":"a"},', 39_000 * 27))}}`,
    statuses: [200],
  },
  "39,000 items of a response, the last of them wrong": {
    path: RESPONSES,
    body: () => `{${MODEL},"input":[${'{"role":"user","content":""},'.repeat(39_000)}{"role":"none","content":""}]}`,
    statuses: [400],
  },
  "20 items of 180 KB for a conversation": {
    path: "/v1/conversations",
    body: () => `{"items":[${filled(`{"role":"user","content":"${"some text ".repeat(18_000)}"},`, 3.6 * MB)}]}`,
    statuses: [200],
  },
  "99,000 members that have no meaning": { path: CHAT, body: () => `{${ASK},${members(99_000)}}`, statuses: [200] },
  "80,000 of them, in an answer that is to be cached": {
    path: CHAT,
    headers: { "x-cache": "on" },
    body: () => `{${ASK},${members(80_000)}}`,
    statuses: [200],
  },
  "99,000 of logit_bias": {
    path: CHAT,
    body: () => `{${ASK},"logit_bias":{${tokens(99_000)}}}`,
    statuses: [200],
  },
  "a run with an input of 90,000 members under a key": {
    path: "/v1/pipelines/runs",
    headers: { "idempotency-key": "large" },
    body: () => runOf("object", `{${members(90_000)}}`),
    statuses: [202],
  },
  "a run with an input of 4 MB of text": {
    path: "/v1/pipelines/runs",
    body: () => runOf("string", `"${"x".repeat(4 * MB - 100)}"`),
    statuses: [202],
  },
  "twenty chats of a megabyte": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${"some text ".repeat(100_000)}"}]}`,
    times: 20,
    statuses: [400],
  },
};
