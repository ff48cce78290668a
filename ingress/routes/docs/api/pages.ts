/** Pages of the API reference: a list of all operations, and one page per operation. */
import { SOURCE_BASE } from "../links.ts";
import type { Page } from "../pages.ts";
import {
  type Endpoint,
  endpointsOf,
  mergedObject,
  type OpenApiDocument,
  type Resolve,
  resolverOf,
} from "./document.ts";
import { type OperationFacts, operationMarkdown } from "./operation.ts";

export type { OpenApiDocument } from "./document.ts";

/** Groups of operations for operators of an installation. They come last in the list. */
const LAST: readonly string[] = ["Operator", "Health", "Documentation"];

/**
 * Returns all pages of the API reference.
 * @param facts facts about operations, by operationId
 */
export function apiPages(
  document: OpenApiDocument,
  facts: Readonly<Record<string, OperationFacts>> = {},
): readonly Page[] {
  const resolve = resolverOf(document);
  const groups = groupsOf(document);
  const common = { section: "Reference", parent: "api" } as const;
  let order = 0;
  const pages = [...groups].flatMap(([group, endpoints]) =>
    endpoints.map((endpoint): Page => {
      const { operationId, summary, method, url, description = "" } = endpoint;
      let body: string | undefined;
      return {
        ...common,
        path: `api/${operationId}`,
        file: `schemas/docs/api/${operationId}.md`,
        title: summary,
        summary: `${method} ${url}`,
        group,
        order: order++,
        searchText: `${description} ${[operationId, ...inputNames(endpoint, resolve)].join(", ")}`.trim(),
        get body() {
          return (body ??= operationMarkdown(endpoint, document, resolve, facts[operationId]));
        },
      };
    }),
  );
  return [listPage(document, groups), ...pages];
}

/** Returns the names of an operation's parameters, and of the properties of its request bodies. */
function inputNames({ parameters, requestBody }: Endpoint, resolve: Resolve): ReadonlySet<string> {
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema = {} }) => mergedObject(schema, resolve));
  return new Set([
    ...parameters.map(({ name }) => name),
    ...bodies.flatMap(({ properties = {} }) => Object.keys(properties)),
  ]);
}

/** Groups endpoints by their first tag, in the order of the tags. Groups for operators come last. */
function groupsOf(document: OpenApiDocument): ReadonlyMap<string, readonly Endpoint[]> {
  const endpoints = endpointsOf(document);
  const names = document.tags.map(({ name }) => name);
  const ordered = [...names.filter((name) => !LAST.includes(name)), ...LAST.filter((name) => names.includes(name))];
  const groups = ordered.map((name) => [name, endpoints.filter(({ tags: [first] }) => first === name)] as const);
  return new Map(groups.filter(([, own]) => own.length > 0));
}

function listPage({ tags }: OpenApiDocument, groups: ReadonlyMap<string, readonly Endpoint[]>): Page {
  const parts = [...groups].map(([group, endpoints]) => {
    const rows = endpoints.map(
      ({ operationId, summary, method, url }) => `| [${summary}](api/${operationId}.md) | \`${method} ${url}\` |`,
    );
    const about = tags.find(({ name }) => name === group)?.description;
    const said = about === undefined ? "" : `${about}\n\n`;
    return `## ${group}\n\n${said}| Operation | Request |\n|---|---|\n${rows.join("\n")}`;
  });
  return {
    path: "api",
    file: "schemas/docs/api.md",
    title: "API reference",
    section: "Reference",
    order: 0,
    summary: "Every operation of the HTTP API, with parameters, examples and error codes.",
    body: `${INTRODUCTION}\n\n${parts.join("\n\n")}\n`,
  };
}

const INTRODUCTION = `The base address is \`${SOURCE_BASE}\`. Stock OpenAI clients take \`${SOURCE_BASE}/v1\` as their base URL.
The operations are described in [/openapi.json](/openapi.json) (OpenAPI 3.1). The [explorer](/docs/explorer) sends calls from the browser.

- **Authentication:** send an API key as \`Authorization: Bearer <key>\` or \`x-api-key: <key>\`. Operator routes take an operator token instead.
- **Errors:** every error body is \`{"error": {"message", "type", "code", "param"}}\`. [Errors A–Z](reference/errors.md) lists the codes.
- **Unknown properties** of a request body never fail a call. \`null\` for an optional property means that the property is absent.`;
