/** Shows the same call as a curl command and as programs in Python and JavaScript. */
import { type Endpoint, type OpenApiDocument, type Parameter, type Resolve, statedExample } from "./document.ts";
import { exampleOf } from "./example.ts";
import { SOURCE_BASE } from "../links.ts";
import { sdkSnippets } from "./sdk.ts";

/** Environment variable that contains the credential, by security scheme. Operations without a scheme need no credential. */
const VARIABLES: Readonly<Record<string, string>> = { key: "SLUICE_KEY", operatorToken: "SLUICE_OPERATOR_TOKEN" };

interface Call {
  readonly method: string;
  readonly url: string;
  /** Environment variable that contains the credential; undefined if the call needs none. */
  readonly variable: string | undefined;
  readonly json: unknown;
  readonly form: readonly (readonly [name: string, value: string])[];
  /** True when the response is not JSON. */
  readonly isBytes: boolean;
  /** True when the response is an event stream, which clients read as text. */
  readonly isStream: boolean;
  /** Request headers that only this call needs. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Returns Markdown code blocks, one per language. */
export function snippetsOf(endpoint: Endpoint, document: OpenApiDocument, resolve: Resolve): string {
  const call = callOf(endpoint, document, resolve);
  const fences: (readonly [language: string, text: string])[] = [["sh", curl(call)]];
  // Files are sent from a shell more easily than from a program that reads a form of its own.
  if (call.form.length === 0) {
    const sdk = sdkSnippets(endpoint.operationId, call.json, SOURCE_BASE, pythonValue);
    fences.push(["python", sdk?.python ?? python(call)], ["js", sdk?.js ?? javascript(call)]);
  }
  return fences.map(([language, text]) => `\`\`\`${language}\n${text}\n\`\`\``).join("\n\n");
}

function callOf(endpoint: Endpoint, document: OpenApiDocument, resolve: Resolve): Call {
  const { url, method, parameters, security, responses } = endpoint;
  const [scheme] = Object.keys(security[0] ?? {});
  const json = requestExample(endpoint, document, resolve);
  const headers = parameters.flatMap(({ in: place, name, example }): [string, string][] =>
    place === "header" && typeof example === "string" ? [[name, example]] : [],
  );
  const content = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content ?? {};
  return {
    method,
    url: SOURCE_BASE + url.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathValue(name, parameters)),
    variable: scheme === undefined ? undefined : VARIABLES[scheme],
    json,
    form: json === undefined ? formOf(endpoint, resolve) : [],
    isBytes: content["application/json"] === undefined && content["text/event-stream"] === undefined,
    isStream:
      (json as { stream?: unknown } | undefined)?.stream === true ||
      (content["text/event-stream"] !== undefined &&
        (content["application/json"] === undefined ||
          headers.some(([, value]) => value.includes("text/event-stream")))),
    headers,
  };
}

function pathValue(name: string, parameters: readonly Parameter[]): string {
  const example = parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.example;
  if (typeof example === "string") return example;
  // curl reads braces as a pattern.
  return name === "workspaceId" ? "default" : name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

/**
 * Returns the request example in the OpenAPI document, or else one built from the schema. Returns undefined for an operation without a JSON
 * body.
 */
export function requestExample({ requestBody }: Endpoint, document: OpenApiDocument, resolve: Resolve): unknown {
  const media = requestBody?.content["application/json"];
  if (!media?.schema) return undefined;
  return statedExample(media, document) ?? exampleOf(media.schema, resolve, "required");
}

function formOf({ requestBody }: Endpoint, resolve: Resolve): [string, string][] {
  const schema = requestBody?.content["multipart/form-data"]?.schema;
  if (!schema) return [];
  const example = exampleOf(schema, resolve, "required") as Readonly<Record<string, unknown>>;
  return Object.entries(example).map(([name, value]) => {
    const isFile = value === "<bytes>" || name === "file";
    return [name, isFile ? "@file.txt" : String(value)];
  });
}

function curl({ method, url, variable, json, form, isBytes, isStream, headers }: Call): string {
  const hasBody = json !== undefined || form.length > 0;
  const usual = hasBody ? "POST" : "GET";
  const parts = [
    `curl -s${isStream ? "N" : ""}${method === usual ? "" : ` -X ${method}`} "${url}"`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`]),
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(json === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${shellJson(json)}'`]),
    ...form.map(([name, value]) => `-F "${name}=${value}"`),
    ...(isBytes && method === "POST" ? ["--output response.bin"] : []),
  ];
  return parts.join(" \\\n  ");
}

/** Maximum length of a body that is shown on one line, in characters. */
const LINE_CHARS_MAX = 70;

/** Formats JSON for a shell command, within single quotes. */
function shellJson(json: unknown): string {
  const short = JSON.stringify(json);
  const text = short.length > LINE_CHARS_MAX ? JSON.stringify(json, null, 2).replaceAll("\n", "\n  ") : short;
  return text.replaceAll("'", String.raw`'\''`);
}

function python({ method, url, variable, json, isBytes, isStream, headers }: Call): string {
  const lines = [
    "import os",
    "import requests",
    "",
    "response = requests.request(",
    `    "${method}",`,
    `    "${url}",`,
  ];
  const sent = [
    ...(variable === undefined ? [] : [`"Authorization": f"Bearer {os.environ['${variable}']}"`]),
    ...headers.map(([name, value]) => `"${name}": "${value}"`),
  ];
  if (sent.length === 1) lines.push(`    headers={${sent.join("")}},`);
  else if (sent.length > 1) lines.push("    headers={", ...sent.map((one) => `        ${one},`), "    },");
  if (variable === undefined) lines.splice(0, 1);
  if (json !== undefined) lines.push(`    json=${pythonValue(json, 4)},`);
  const read = isBytes ? "len(response.content)" : isStream ? "response.text" : "response.json()";
  lines.push(")", "response.raise_for_status()", `print(${read})`);
  return lines.join("\n");
}

/** Formats a JSON value as a Python literal. */
function pythonValue(value: unknown, indent: number): string {
  const text = JSON.stringify(value, null, 4).replaceAll("\n", `\n${" ".repeat(indent)}`);
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => PYTHON_WORDS[token] ?? token);
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

function javascript({ method, url, variable, json, isBytes, isStream, headers: more }: Call): string {
  const headers = [
    ...(variable === undefined ? [] : [`    authorization: \`Bearer \${process.env.${variable}}\`,`]),
    ...more.map(([name, value]) => `    "${name.toLowerCase()}": "${value}",`),
    ...(json === undefined ? [] : ['    "content-type": "application/json",']),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : ["  headers: {", ...headers, "  },"]),
    ...(json === undefined
      ? []
      : [`  body: JSON.stringify(${JSON.stringify(json, null, 2).replaceAll("\n", "\n  ")}),`]),
  ];
  const asked = options.length === 0 ? `"${url}"` : `"${url}", {\n${options.join("\n")}\n}`;
  return `const response = await fetch(${asked});
if (!response.ok) throw new Error(await response.text());
const result = await response.${isBytes ? "arrayBuffer" : isStream ? "text" : "json"}();`;
}
