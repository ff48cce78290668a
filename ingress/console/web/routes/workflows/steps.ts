/** Steps of a definition with their dependencies, read leniently: a definition that is being edited may be wrong. */

export interface Step {
  readonly id: string;
  readonly type: string;
  readonly model?: string;
  /** True for a step that runs once for each element of a list. */
  readonly isList: boolean;
  /** Ids that the step names: in `depends_on`, and in expressions as `steps.<id>`. */
  readonly named: readonly string[];
}

const EXPRESSION = /\$\{\{([\s\S]*?)\}\}/g;
const REFERENCE = /\bsteps\.([a-z]\w*)|\bsteps\[\s*["']([a-z]\w*)["']\s*\]/g;

/** Returns the steps of a definition with distinct ids. Entries without an id are omitted. */
export function stepsOf(definition: unknown): readonly Step[] {
  const list =
    isObject(definition) && Array.isArray(definition["steps"]) ? (definition["steps"] as readonly unknown[]) : [];
  const steps = new Map<string, Step>();
  for (const one of list) {
    if (!isObject(one) || typeof one["id"] !== "string" || steps.has(one["id"])) continue;
    const { id, type, model, depends_on: before, if: condition, for_each: each, params, input } = one;
    const waits = Array.isArray(before) ? before.filter((name) => typeof name === "string") : [];
    steps.set(id, {
      id,
      type: typeof type === "string" ? type : "",
      ...(typeof model === "string" ? { model } : {}),
      isList: each !== undefined,
      named: [...new Set([...waits, ...referencesIn([condition, each, params, input])])],
    });
  }
  return [...steps.values()];
}

/** Returns the ids of the steps that must end before this step starts. */
export function dependenciesOf(step: Step, steps: readonly Step[]): readonly string[] {
  return step.named.filter((name) => name !== step.id && steps.some(({ id }) => id === name));
}

function referencesIn(value: unknown): readonly string[] {
  if (typeof value === "string") {
    return [...value.matchAll(EXPRESSION)].flatMap(([, text = ""]) =>
      [...text.matchAll(REFERENCE)].map(([, plain, quoted]) => plain ?? quoted ?? ""),
    );
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a definition as indented JSON. */
export function textOf(definition: unknown): string {
  return JSON.stringify(definition, null, 2);
}
