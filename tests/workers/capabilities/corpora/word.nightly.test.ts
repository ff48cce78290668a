/** Word documents of Apache POI: every word of the body, its notes and its formulas is in the text. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { runCapability } from "../in-folder.ts";
import { type Case, testCorpus } from "./corpus.ts";

await testCorpus(
  "Word documents of Apache POI",
  { name: "libapache-poi-java", version: "4.0.1", release: "trixie", folder: "test-data/document" },
  { right: 85, refused: 0, wrong: 0 },
  casesIn,
);

/**
 * Prints a line for each file: the words of its body and its notes, or null for what Python cannot read. Breaks, references to
 * notes and ends of paragraphs part words; deleted text, and the second form of a drawing for older programs, do not count.
 */
const READER = `
import json, re, sys, zipfile
from xml.etree import ElementTree
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
PARTS = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"]
LEFT_OUT = {W + "del", W + "moveFrom", W + "instrText", "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
PARTING = {W + "footnoteReference", W + "endnoteReference", W + "rt", W + "br", W + "cr", W + "tab", W + "p", W + "tc"}
SIGNS = {M + "den": "/", M + "sup": "^", M + "sub": "_", M + "rad": "√"}
def walk(node):
    if node.tag in LEFT_OUT: return
    if node.tag in (W + "t", M + "t"): yield node.text or ""
    if node.tag in PARTING: yield " "
    yield SIGNS.get(node.tag, "")
    if node.tag == W + "noBreakHyphen": yield "-"
    for child in node: yield from walk(child)
    if node.tag in PARTING: yield " "
for path in sys.argv[1:]:
    try:
        file = zipfile.ZipFile(path)
        roots = [ElementTree.fromstring(file.read(part)) for part in PARTS if part in file.namelist()]
        text = " ".join("".join(walk(root if root.find(W + "body") is None else root.find(W + "body"))) for root in roots)
        print(json.dumps(re.findall(r"\\w+", text.replace("\\u00ad", ""))))
    except Exception:
        print("null")
`;

function* casesIn(folder: string): Iterable<Case> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".docx")).toSorted(); // prettier-ignore
  const { stdout } = Bun.spawnSync(["python3", "-c", READER, ...names.map((name) => join(folder, name))], { stderr: "ignore" }); // prettier-ignore
  const lines = stdout.toString().trimEnd().split("\n");
  for (const [at, name] of names.entries()) {
    const words = JSON.parse(lines[at] ?? "null") as readonly string[] | null;
    if (words === null) continue;
    yield {
      name,
      isRight: async () => {
        const made = await runCapability("document.extract_text", { document: readFileSync(join(folder, name)) });
        const text = (made.output?.["text"] as string | undefined) ?? Buffer.from(made.bytes()).toString();
        const own = new Set(text.match(/[\p{L}\p{N}\p{M}_]+/gu));
        const lost = words.filter((word) => !own.has(word));
        if (lost.length > 0) throw new Error(`lost ${lost.length} of ${words.length}: ${lost.slice(0, 8).join(" ")}`);
        return true;
      },
    };
  }
}
