/** Finds the place in a JSON text that the API names in the `param` of an error, such as `definition.steps[2].params.size`. */
import { jsonLanguage } from "@codemirror/lang-json";
import type { SyntaxNode } from "@lezer/common";

export interface Place {
  /** Offsets in the text. */
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the place of the named member, or of its closest ancestor in the text if the member is absent.
 * @param param path of the member; the first part is `definition`, which is the whole text
 */
export function placeOf(text: string, param: string | null): Place {
  const [, ...path] = (param ?? "").split(/\.|(?=\[)/);
  let value: SyntaxNode | null = jsonLanguage.parser.parse(text).topNode.firstChild;
  let place: Place = { from: 0, to: firstLineEnd(text, 0) };
  for (const part of path) {
    const found = value === null ? undefined : memberOf(text, value, part);
    if (found === undefined) break;
    place = { from: found.place.from, to: firstLineEnd(text, found.place.from) };
    value = found.value;
  }
  return place;
}

function memberOf(
  text: string,
  node: SyntaxNode,
  part: string,
): { readonly place: SyntaxNode; readonly value: SyntaxNode | null } | undefined {
  const index = /^\[(\d+)\]$/.exec(part)?.[1];
  if (index !== undefined) {
    const element = node.name === "Array" ? valuesOf(node)[Number(index)] : undefined;
    return element && { place: element, value: element };
  }
  const property = node.getChildren("Property").find((one) => {
    const name = one.getChild("PropertyName");
    return name !== null && nameIn(text.slice(name.from, name.to)) === part;
  });
  return property && { place: property, value: property.lastChild };
}

function valuesOf(node: SyntaxNode): readonly SyntaxNode[] {
  const values: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (!["[", "]", ","].includes(child.name)) values.push(child);
  }
  return values;
}

function nameIn(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // The name is being typed.
    return quoted;
  }
}

function firstLineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** Returns the number of the line that contains the offset, from 1. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

export type Parsed = { readonly value: unknown } | { readonly message: string; readonly place: Place };

/** Parses the text, or returns the place of the first syntax error. */
export function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    let place: Place | undefined;
    jsonLanguage.parser.parse(text).iterate({
      enter: ({ type, from, to }) => {
        if (type.isError) place ??= { from: Math.min(from, Math.max(0, text.length - 1)), to: Math.max(to, from + 1) };
      },
    });
    return { message: "The text is not JSON here.", place: place ?? { from: 0, to: text.length } };
  }
}
