/**
 * Requests of one caller that are meant to keep the thread of an ingress to themselves: bodies as large as may be and full of small
 * things, forms of junk, definitions and estimates that compute. None of them costs its caller anything.
 */

export interface HostileRequest {
  readonly path: string;
  readonly method?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made when it is sent: bodies have up to 32 MB. */
  readonly body: () => string | Uint8Array<ArrayBuffer>;
  /** As many at once; one unless it is given. */
  readonly times?: number;
  /** Statuses that it may be answered with. */
  readonly statuses: readonly number[];
}

const MB = 1_048_576;
/** What a body may have, less what stands around its filling. */
const FULL = 32 * MB - 1_024;

const CHAT = "/v1/chat/completions";
const RUN = "/v1/capabilities";
const MODEL = `"model":"sandbox-chat"`;
const ASK = `${MODEL},"messages":[{"role":"user","content":"hello"}]`;
/** Refused by its shape or its size, never a fault of ours. */
const REFUSED = [400, 413, 503];

/** As many of `one` as there is room for, with commas between them. */
function filled(one: string, bytes = FULL): string {
  return one.repeat(Math.floor(bytes / one.length)).slice(0, -1);
}

/** Members with names that differ. */
function members(count: number): string {
  return Array.from({ length: count }, (_one, at) => `"k${at.toString(36)}":${at % 10}`).join(",");
}

function step(params: unknown): object {
  return { id: "s", type: "model", model: "sandbox-chat", params: { messages: [{ role: "user", content: "x" }], stop: params } };
}

function expressions(one: string, bytes: number): readonly string[] {
  return Array.from({ length: Math.floor(bytes / (one.length + 3)) }, () => one);
}

function estimateOf(steps: number): string {
  const list = Array.from({ length: 400 }, (_one, at) => at);
  const content = "${{ item + inputs.list.size() }} ${{ inputs.list.map(x, x * item).size() }}";
  return JSON.stringify({
    definition: {
      inputs: { list: { type: "array" } },
      steps: Array.from({ length: steps }, (_one, at) => ({
        id: `s${at}`,
        type: "model",
        model: "sandbox-chat",
        for_each: "${{ inputs.list }}",
        params: { messages: [{ role: "user", content }] },
      })),
    },
    input: { list },
  });
}

function junkForm(parts: number, bytes: number): Uint8Array<ArrayBuffer> {
  const part = `--x\r\ncontent-disposition: form-data; name="junk"\r\n\r\n${"j".repeat(bytes)}\r\n`;
  return new Uint8Array(Buffer.from(`${part.repeat(parts)}--x--\r\n`));
}

const FORM = "multipart/form-data; boundary=x";

export const HOSTILE_REQUESTS: Readonly<Record<string, HostileRequest>> = {
  "32 MB of numbers and a wrong last character": {
    path: CHAT,
    body: () => `{"a":[${filled("1,")}}`,
    statuses: REFUSED,
  },
  "32 MB of numbers": { path: CHAT, body: () => `{${ASK},"a":[${filled("1,")}]}`, statuses: REFUSED },
  "32 MB of nulls": { path: CHAT, body: () => `{${ASK},"a":[${filled("null,")}]}`, statuses: REFUSED },
  "32 MB of blanks": { path: CHAT, body: () => `{${ASK}${" ".repeat(FULL)}}`, statuses: [200, ...REFUSED] },
  "1.9 million members in args": {
    path: `${RUN}/code.run_javascript/run`,
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
    body: () => `{${MODEL},"messages":[${filled(`{"role":"user","content":""},`)}]}`,
    statuses: REFUSED,
  },
  "a million blocks": {
    path: "/v1/messages",
    body: () => `{${MODEL},"max_tokens":1,"messages":[{"role":"user","content":[${filled(`{"type":"text","text":"a"},`)}]}]}`,
    statuses: REFUSED,
  },
  "a million of logit_bias": {
    path: CHAT,
    body: () =>
      `{${ASK},"logit_bias":{${Array.from({ length: 1_000_000 }, (_one, at) => `"${at}":1`).join(",")}}}`,
    statuses: REFUSED,
  },
  "32 MB of escapes": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${String.raw`\"`.repeat(FULL / 2)}"}]}`,
    statuses: REFUSED,
  },
  "32 MB of token numbers": {
    path: "/v1/embeddings",
    body: () => `{"model":"sandbox-embed","input":[${filled(`[${filled("12345,", 48_000)}],`)}]}`,
    statuses: [200, ...REFUSED],
  },
  "32 MB of tokens of one digit": {
    path: "/v1/embeddings",
    body: () => `{"model":"sandbox-embed","input":[${filled(`[${filled("1,", 16_380)}],`)}]}`,
    statuses: [200, ...REFUSED],
  },
  "an input of a run with 4 MB of members": {
    path: "/v1/pipelines/runs",
    body: () =>
      `{"mode":"async","definition":{"inputs":{"a":{"type":"object"}},"steps":[{"id":"s","type":"model","model":"sandbox-chat","if":false,"params":{"messages":[{"role":"user","content":"x"}]}}]},"input":{"a":{${members(350_000)}}}}`,
    statuses: [202, ...REFUSED],
  },
  "a definition of 32 MB": {
    path: "/v1/workflows",
    body: () => `{"name":"big","definition":{"steps":[{"id":"s","type":"model","params":{"a":[${filled("1,")}]}}]}}`,
    statuses: REFUSED,
  },
  "an estimate of a chat of 32 MB of prose": {
    path: "/v1/models/sandbox-chat/estimate",
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${"the quick brown fox ".repeat(FULL / 20)}"}]}`,
    statuses: [200, ...REFUSED],
  },
  "twenty forms of junk fields": {
    path: "/v1/files",
    contentType: FORM,
    body: () => junkForm(19, MB - 1),
    times: 20,
    statuses: REFUSED,
  },
  "twenty transcriptions of junk fields": {
    path: "/v1/audio/transcriptions",
    contentType: FORM,
    body: () => junkForm(19, MB - 1),
    times: 20,
    statuses: REFUSED,
  },
  "a definition of expressions that compute": {
    path: "/v1/workflows",
    body: () => {
      const one = "${{cel.bind(a,[1,1,1,1,1,1,1,1,1],a.map(x,a.map(y,a.map(z,1)))).size()}}";
      return JSON.stringify({ name: "work", definition: { steps: [step(expressions(one, 230_000))] } });
    },
    times: 10,
    statuses: [201, ...REFUSED],
  },
  "a definition of expressions to parse": {
    path: "/v1/workflows",
    body: () => {
      const one = `\${{${Array.from({ length: 30 }, () => "1").join("+")}}}`;
      return JSON.stringify({ name: "parse", definition: { steps: [step(expressions(one, 230_000))] } });
    },
    times: 10,
    statuses: [201, ...REFUSED],
  },
  "a definition of expressions that are none": {
    path: "/v1/workflows",
    body: () => {
      const one = `\${{${Array.from({ length: 35 }, () => "1").join("+")}+}}`;
      return JSON.stringify({ name: "faulty", definition: { steps: [step(expressions(one, 230_000))] } });
    },
    times: 10,
    statuses: REFUSED,
  },
  "an estimate of 100 steps over a list of 400": {
    path: "/v1/workflows/estimate",
    body: () => estimateOf(100),
    times: 20,
    statuses: [200, ...REFUSED],
  },
  "twenty counts of a megabyte of consonants": {
    path: "/v1/messages/count_tokens",
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${consonants(MB - 200)}"}]}`,
    times: 20,
    statuses: [200, ...REFUSED],
  },
};

/** No word of a vocabulary, and each time the same. */
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

/** As large as their contracts allow, and nothing wrong with them. */
export const LARGE_REQUESTS: Readonly<Record<string, HostileRequest>> = {
  "an image of 31 MB to be edited": {
    path: "/v1/images/edits",
    body: () => `{"model":"sandbox-image","prompt":"x","image_base64":"${png(31 * MB)}"}`,
    statuses: [200, 400],
  },
  "images of 31 MB in a chat": {
    path: CHAT,
    body: () => `{"model":"sandbox-vision","messages":[{"role":"user","content":[{"type":"text","text":"?"},${[1, 2, 3].map(() => `{"type":"image_url","image_url":{"url":"data:image/png;base64,${png(10 * MB)}"}}`).join(",")}]}]}`,
    statuses: [200, 400],
  },
  "a document of 31 MB in Anthropic's form": {
    path: "/v1/messages",
    body: () => `{"model":"sandbox-documents","max_tokens":5,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"${Buffer.alloc(23 * MB, "%PDF-1.7\n").toString("base64").slice(0, 31 * MB)}"}},{"type":"text","text":"?"}]}]}`,
    statuses: [200, 400],
  },
  "a prompt of PHP's base64 with escapes": {
    path: "/v1/images/edits",
    body: () => `{"model":"sandbox-image","prompt":"x","image_base64":"${png(20 * MB).replaceAll("/", String.raw`\/`)}"}`,
    statuses: [200, 400],
  },
  "two files of 10 MB for a capability": {
    path: `${RUN}/archive.create/run`,
    body: () => `{"input":{"files":[{"base64":"${png(13.3 * MB)}"},{"base64":"${png(13.3 * MB)}"}]},"params":{}}`,
    statuses: [200, 202, 400, 422],
  },
  "a text of 30 MB for a capability": {
    path: `${RUN}/code.regex/run`,
    body: () => `{"input":{"text":{"text":"${"some text ".repeat(3 * MB)}"}},"params":{"pattern":"x"}}`,
    statuses: [200, 400, 422],
  },
  "audio of 31 MB to be transcribed": {
    path: "/v1/audio/transcriptions",
    body: () => `{"model":"sandbox-stt","audio_base64":"${png(31 * MB)}"}`,
    statuses: [200, 400, 422],
  },
  "2,048 texts of 15 KB to be embedded": {
    path: "/v1/embeddings",
    body: () => `{"model":"sandbox-embed","input":[${filled(`"${"some text ".repeat(1_500)}",`, 2_048 * 15_003 + 1)}]}`,
    statuses: [200, 400],
  },
  "39,000 messages": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[${filled(`{"role":"user","content":""},`, 39_000 * 29)}]}`,
    statuses: [200, 400],
  },
  "39,000 messages, the last of them wrong": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[${filled(`{"role":"user","content":""},`, 39_000 * 29)},{"role":"none","content":""}]}`,
    statuses: [400],
  },
  "60,000 blocks in Anthropic's form": {
    path: "/v1/messages",
    body: () => `{${MODEL},"max_tokens":1,"messages":[{"role":"user","content":[${filled(`{"type":"text","text":"a"},`, 39_000 * 27)}]}]}`,
    statuses: [200, 400],
  },
  "99,000 unknown members": { path: CHAT, body: () => `{${ASK},${members(99_000)}}`, statuses: [200, 400] },
  "99,000 of logit_bias": {
    path: CHAT,
    body: () => `{${ASK},"logit_bias":{${Array.from({ length: 99_000 }, (_one, at) => `"${at}":1`).join(",")}}}`,
    statuses: [200, 400],
  },
  "a schema of 90,000 members in tools": {
    path: CHAT,
    body: () => `{${ASK},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{${members(90_000)}}}}}]}`,
    statuses: [200, 400],
  },
  "a run with an input of 90,000 members": {
    path: "/v1/pipelines/runs",
    headers: { "idempotency-key": "large" },
    body: () =>
      `{"mode":"async","definition":{"inputs":{"a":{"type":"object"}},"steps":[{"id":"s","type":"model","model":"sandbox-chat","if":false,"params":{"messages":[{"role":"user","content":"x"}]}}]},"input":{"a":{${members(90_000)}}}}`,
    statuses: [202],
  },
  "a run with an input of 4 MB of text": {
    path: "/v1/pipelines/runs",
    body: () =>
      `{"mode":"async","definition":{"inputs":{"a":{"type":"string"}},"steps":[{"id":"s","type":"model","model":"sandbox-chat","if":false,"params":{"messages":[{"role":"user","content":"x"}]}}]},"input":{"a":"${"x".repeat(4 * MB - 100)}"}}`,
    statuses: [202],
  },
  "a megabyte to be cached": {
    path: CHAT,
    headers: { "x-cache": "on" },
    body: () => `{${ASK},${members(80_000)}}`,
    statuses: [200],
  },
  "twenty chats of a megabyte": {
    path: CHAT,
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${"some text ".repeat(100_000)}"}]}`,
    times: 20,
    statuses: [200, 400],
  },
  "twenty estimates of a megabyte": {
    path: "/v1/models/sandbox-chat/estimate",
    body: () => `{${MODEL},"messages":[{"role":"user","content":"${consonants(100_000)}"}]}`,
    times: 20,
    statuses: [200, 503],
  },
};

let noise = "";
/** Base64 that begins as an image and is as good as random. */
function png(length: number): string {
  noise ||= Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from(consonants(65_536 - 8))]).toString("base64").replaceAll("=", "A");
  return noise.repeat(Math.ceil(length / noise.length)).slice(0, Math.floor(length / 4) * 4);
}
