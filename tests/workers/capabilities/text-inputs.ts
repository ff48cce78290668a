/** Every input of a capability that takes text, with a text of letters that charsets write differently. */
import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";

import { type Ran, runCapability, type TestInputs } from "./in-folder.ts";

interface TextInput {
  readonly text: string;
  readonly others?: TestInputs;
  readonly params?: object;
  /** Reads what does not have the same bytes each time. */
  readonly read?: (made: Ran) => Promise<unknown>;
}

const WORDS = "Grün für 5 €";

/** By capability and member. */
export const TEXT_INPUTS: Readonly<Record<string, TextInput>> = {
  "video.subtitle subtitles": {
    text: `1\n00:00:00,000 --> 00:00:01,000\n${WORDS}\n`,
    others: { video: { file_id: "file-sample-clip" } },
    params: { mode: "soft" },
  },
  "video.pipeline assets": {
    text: `1\n00:00:00,000 --> 00:00:01,000\n${WORDS}\n`,
    others: { video: { file_id: "file-sample-clip" } },
    params: { operations: [{ operation: "subtitle", params: { asset: "one" } }] },
  },
  "image.render_svg svg": {
    text: `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><text y="20">${WORDS}</text></svg>`,
  },
  "image.barcode text": { text: WORDS },
  "document.extract_text document": { text: WORDS },
  "document.html_to_pdf html": {
    text: `<p>${WORDS}</p>`,
    read: async (made) => (await runCapability("document.extract_text", { document: made.bytes() })).output,
  },
  "document.markdown_to_html markdown": { text: WORDS },
  "document.markdown_to_pdf markdown": { text: WORDS },
  "document.markdown_to_docx markdown": { text: WORDS },
  "document.convert_spreadsheet document": { text: `a,b\n${WORDS},1\n`, params: { to: "xlsx" } },
  "code.format code": { text: `const a={b:"${WORDS}"}`, params: { language: "javascript" } },
  "code.highlight code": { text: `a = "${WORDS}"`, params: { language: "python" } },
  "code.minify code": { text: `.a::after { content: "${WORDS}" }`, params: { language: "css" } },
  "code.diff old": { text: `${WORDS}\n`, others: { new: { text: "a\n" } } },
  "code.diff new": { text: `${WORDS}\n`, others: { old: { text: "a\n" } } },
  "code.diff patch": {
    text: `--- a\n+++ b\n@@ -1 +1 @@\n-a\n+${WORDS}\n`,
    others: { old: { text: "a\n" } },
    params: { mode: "apply" },
  },
  "code.transform_json data": { text: `{"a":"${WORDS}"}` },
  "code.run_javascript code": { text: `"${WORDS}"` },
  "code.regex text": { text: WORDS, params: { pattern: ".+" } },
  "code.run_python code": { text: `"${WORDS}"` },
};

/** Inputs that are bytes, text or not. */
const OF_BYTES = ["archive.compress file", "archive.checksum file"];

/** Names of all inputs that take text, as `TEXT_INPUTS` has to name them. */
export const TAKERS: readonly string[] = CAPABILITIES.flatMap(({ id, members }) =>
  Object.entries(members)
    .filter(([, { kind, takesText, isAddress }]) => (takesText || kind === "text") && isAddress !== true)
    .map(([member]) => `${id} ${member}`),
).filter((name) => !OF_BYTES.includes(name));

/** Engines that take seconds: their inputs are asked at night. */
export function isSlow(name: string): boolean {
  return ["ffmpeg", "browser"].includes(CAPABILITIES.find(({ id }) => name.startsWith(`${id} `))?.engine ?? "");
}

const WINDOWS: Readonly<Record<string, number>> = { "€": 0x80 };
const ENCODERS: Readonly<Record<string, (text: string) => Uint8Array>> = {
  "utf-8": (text) => Buffer.from(`\ufeff${text}`),
  "utf-16le": (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
  "utf-16be": (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
  "windows-1252": (text) => Uint8Array.from(text, (letter) => WINDOWS[letter] ?? letter.charCodeAt(0)),
};

/** Results of one text by the charset that it was written in, with the charset that was reported; the first is of plain UTF-8. */
export async function resultsOf(
  name: string,
): Promise<readonly { readonly result: unknown; readonly charset: unknown }[]> {
  const [id = "", member = ""] = name.split(" ");
  const { text, others = {}, params = {}, read = bytesOf } = TEXT_INPUTS[name] ?? { text: "" };
  const results: { result: unknown; charset: unknown }[] = [];
  for (const encode of [(plain: string) => Buffer.from(plain), ...Object.values(ENCODERS)]) {
    const bytes = encode(text);
    const isNamed = CAPABILITIES.find((one) => one.id === id)?.members[member]?.named !== undefined;
    const made = await runCapability(id, { ...others, [member]: isNamed ? { one: bytes } : bytes }, params);
    const { charset, charsets, ...output } = made.output ?? {};
    const reported = charset ?? (charsets as Readonly<Record<string, unknown>> | undefined)?.[member];
    results.push({ result: [output, await read(made)], charset: reported });
  }
  return results;
}

export const CHARSETS: readonly unknown[] = [undefined, undefined, "utf-16le", "utf-16be", "windows-1252"];

function bytesOf(made: Ran): Promise<unknown> {
  return Promise.resolve(made.files?.map((_file, at) => Buffer.from(made.bytes(at)).toString("base64")));
}
