/** Walks over the texts of an OpenAPI document. */

type Node = Readonly<Record<string, unknown>>;

/** The parts of a document that carry descriptions. */
export interface Described {
  readonly tags?: readonly Node[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, object>>; readonly headers?: Node };
}

/** Keywords with data, or with conditions on members that are described elsewhere. */
const SKIPPED: ReadonlySet<string> = new Set([
  "const",
  "default",
  "else",
  "enum",
  "example",
  "examples",
  "if",
  "not",
  "then",
]);

/** Names of the tags, parameters, headers, responses, schemas and properties without a description. */
export function undescribed({ tags = [], paths = {}, components }: Described): readonly string[] {
  const schemas = components.schemas ?? {};
  return [
    ...tags.filter(isBare).map(({ name }) => `tag ${String(name)}`),
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        ofOperation(`${method} ${path}`, operation as Node, schemas),
      ),
    ),
    ...Object.entries((components.headers ?? {}) as Readonly<Record<string, Node>>)
      .filter(([, header]) => isBare(header))
      .map(([name]) => `header ${name}`),
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      ...(isBare(schema as Node) ? [name] : []),
      ...ofSchema(`${name}.`, schema, schemas),
    ]),
  ];
}

type Schemas = Readonly<Record<string, object>>;

function ofOperation(
  name: string,
  { parameters = [], requestBody, responses = {} }: Node,
  schemas: Schemas,
): readonly string[] {
  return [
    ...(parameters as readonly Node[]).filter(isBare).map((one) => `${name} parameter ${String(one["name"])}`),
    ...inContent(`${name} request `, requestBody as Node | undefined, schemas),
    ...Object.entries(responses as Readonly<Record<string, Node>>).flatMap(([status, response]) => [
      ...(isBare(response) ? [`${name} response ${status}`] : []),
      ...inContent(`${name} response ${status} `, response, schemas),
    ]),
  ];
}

function inContent(prefix: string, body: Node | undefined, schemas: Schemas): readonly string[] {
  const content = (body?.["content"] ?? {}) as Readonly<Record<string, Node>>;
  return Object.values(content).flatMap(({ schema }) => ofSchema(prefix, schema, schemas));
}

/** Properties at every depth; a property that only refers to a schema has that schema's description. */
function ofSchema(prefix: string, node: unknown, schemas: Schemas): readonly string[] {
  if (Array.isArray(node)) return node.flatMap((item) => ofSchema(prefix, item, schemas));
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node as Node).flatMap(([keyword, value]) => {
    if (SKIPPED.has(keyword)) return [];
    if (keyword !== "properties") return ofSchema(prefix, value, schemas);
    return Object.entries(value as Readonly<Record<string, Node>>).flatMap(([name, property]) => {
      const target = schemas[String(property["$ref"]).split("/").at(-1) ?? ""] as Node | undefined;
      return [
        ...(isBare(property) && (target === undefined || isBare(target)) ? [`${prefix}${name}`] : []),
        ...ofSchema(`${prefix}${name}.`, property, schemas),
      ];
    });
  });
}

function isBare({ description }: Node): boolean {
  return typeof description !== "string" || description.trim() === "";
}

/** Every description and summary. */
export function textsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => {
    if (name === "example" || name === "examples") return [];
    return (name === "description" || name === "summary") && typeof value === "string" ? [value] : textsIn(value);
  });
}
