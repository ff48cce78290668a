/** Text inputs of every capability, in the charsets that files come in. */
import { expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";
import { CHARSETS, isSlow, resultsOf, TAKERS, TEXT_INPUTS } from "./text-inputs.ts";

test("every text input is in the table", () => {
  expect(Object.keys(TEXT_INPUTS).toSorted()).toEqual(TAKERS.toSorted());
});

test.each(TAKERS.filter((name) => !isSlow(name)))("%s is the same text in every charset", async (name) => {
  const results = await resultsOf(name);
  expect(results.map(({ charset }) => charset)).toEqual([...CHARSETS]);
  for (const { result } of results) expect(result).toEqual(results[0]?.result);
});

test.each<[string, string, string, string]>([
  ["its XML declaration", '<?xml version="1.0" encoding="koi8-r"?><a>\xf0</a>', "xml", '{\n  "a": "П"\n}\n'],
  [
    "its XML declaration, though its bytes are ASCII",
    '<?xml version="1.0" encoding="iso-2022-jp"?><a>\x1b$BF|K\\\x1b(B</a>',
    "xml",
    '{\n  "a": "日本"\n}\n',
  ],
  ["Windows without a declaration", "a: \x80", "yaml", '{\n  "a": "€"\n}\n'],
])("a file is read by %s", async (_what, latin, from, text) => {
  const made = await runCapability("code.transform_json", { data: Buffer.from(latin, "latin1") }, { from });
  expect(made.output?.["text"]).toBe(text);
});

test("text of a request is read unchanged, for any declared charset", async () => {
  const text = '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>';
  const made = await runCapability("code.transform_json", { data: { text } });
  expect(made.output).toEqual({ from: "xml", text: '{\n  "a": "é"\n}\n' });
});

test("XML that is rewritten does not declare its input charset", async () => {
  const svg =
    '<?xml version="1.0" encoding="iso-8859-1" standalone="no"?>\n<svg xmlns="http://www.w3.org/2000/svg"><text>\xe9</text></svg>';
  const made = await runCapability("code.format", { code: Buffer.from(svg, "latin1") }, { language: "html" });
  expect(made.output).toMatchObject({ charset: "windows-1252" });
  expect(made.output?.["text"]).toContain('<?xml version="1.0" standalone="no"?>');
});

test("characters that are not valid in the charset of an input are noted", async () => {
  const read = async (text: string, mime: string) => {
    const data = { base64: Buffer.from(text, "latin1").toString("base64"), mime_type: mime };
    return (await runCapability("code.transform_json", { data }, { from: "json" })).output;
  };
  const note = (count: number, charset: string) =>
    `input.data: ${count} characters are not valid in the charset ${charset} and became U+FFFD. Check the charset of the file.`;
  expect(await read('["\xef\xbf\xbd"]', "text/plain")).not.toHaveProperty("notes");
  expect(await read('\xef\xbb\xbf["\xe4\xf6"]', "text/plain")).toMatchObject({ notes: [note(2, "utf-8")] });
  expect(await read('\xff\xfe[\0"\0\0\xd8"\0]\0', "text/plain")).toMatchObject({ notes: [note(1, "utf-16le")] });
});
