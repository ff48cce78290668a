/** Calls as code to paste: curl, Python and JavaScript. */

/** Returns the code of a call by language. @param path such as `/v1/embeddings` */
export function snippetsOf(path: string, body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const url = `${location.origin}${path}`;
  const json = JSON.stringify(body, null, 2);
  const isAudio = path.endsWith("/speech");
  return {
    curl: `curl -s ${url} \\
  -H "Authorization: Bearer $SLUICE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${json.replaceAll("'", String.raw`'\''`)}'${isAudio ? " -o speech.mp3" : ""}`,
    Python: `import os
import requests

response = requests.post(
    "${url}",
    headers={"Authorization": f"Bearer {os.environ['SLUICE_KEY']}"},
    json=${pythonOf(body, 4)},
)
response.raise_for_status()
${isAudio ? 'open("speech.mp3", "wb").write(response.content)' : "print(response.json())"}`,
    JavaScript: `const response = await fetch("${url}", {
  method: "POST",
  headers: { authorization: \`Bearer \${process.env.SLUICE_KEY}\`, "content-type": "application/json" },
  body: JSON.stringify(${json.replaceAll("\n", "\n  ")}),
});
if (!response.ok) throw new Error(await response.text());
${isAudio ? 'await Bun.write("speech.mp3", response);' : "console.log(await response.json());"}`,
  };
}

/** Returns a value as a Python literal. @param indent number of spaces before its last line */
function pythonOf(value: unknown, indent: number): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const pad = " ".repeat(indent + 4);
  const end = `\n${" ".repeat(indent)}`;
  if (Array.isArray(value)) {
    return value.length === 0
      ? "[]"
      : `[\n${value.map((one) => `${pad}${pythonOf(one, indent + 4)},`).join("\n")}${end}]`;
  }
  const lines = Object.entries(value).map(
    ([name, one]) => `${pad}${JSON.stringify(name)}: ${pythonOf(one, indent + 4)},`,
  );
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}${end}}`;
}
