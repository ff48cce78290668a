/** Validates the body of a run against its capability's published schemas, and adds defaults. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";

import { nullShapeOf, withoutNulls } from "#shared/json/absent-nulls.ts";
import { describeFault } from "#shared/json/contract-fault.ts";
import { ApiError, apiErrorsOf } from "#shared/base/errors.ts";
import { withShortCounts } from "#shared/base/text-limits.ts";

import type { Capability, Rule, Schema } from "./entry.ts";
import { brokenRule, pathsOf } from "./rules.ts";

/** Keywords of the published schemas that only annotate. Validators ignore them. */
const VOCABULARY = ["x-svc-unit", "x-svc-enum-labels", "x-svc-value-sources"];

/** Validated body of a run, with defaults added. */
export interface CheckedRun {
  readonly input: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
}

interface RunBody {
  readonly input?: unknown;
  readonly params?: unknown;
}

export interface CheckRun {
  /**
   * Validates the body of a run and adds defaults.
   * @throws ApiError that names the JSON path of the invalid value
   */
  (body: RunBody): CheckedRun;
  /**
   * Checks a body of which some values are still unknown. Returns the first faults of `input` and of `params`; if both are valid, the first
   * broken rule.
   * @param isOpen returns true if a value at or below a path is unknown; rules that read such a value are skipped
   */
  faults(body: RunBody, isOpen: (path: string) => boolean): readonly ApiError[];
}

/** Compiles the schemas of all given capabilities once. Returns a check for each capability that validates the body of a run. */
export function compileChecks(capabilities: readonly Capability[]): ReadonlyMap<string, CheckRun> {
  // Defaults below a union are left to the capability; the strict mode would reject the schema because of them.
  const code = { process: withShortCounts };
  const ajv = new Ajv({
    useDefaults: true,
    verbose: true,
    strict: true,
    strictSchema: false,
    allowUnionTypes: true,
    code,
  });
  ajv.addVocabulary(VOCABULARY);
  return new Map(capabilities.map((capability) => [capability.id, checkOf(ajv, capability)]));
}

function checkOf(ajv: Ajv, capability: Capability): CheckRun {
  // Compiled at the first run: a process lists all capabilities and runs few of them.
  const compile = (schema: Schema) => {
    let check: ((name: string, value: unknown) => Members) | undefined;
    return (name: string, value: unknown): Members => (check ??= compiled(ajv, schema))(name, value);
  };
  const [input, params] = [compile(capability.input_schema), compile(capability.params_schema)];
  const checkInput = (value: unknown): CheckedRun["input"] => {
    if (value === undefined) throw missing("input");
    const checked = input("input", value);
    for (const [name, member] of Object.entries(checked)) {
      if (capability.members[name]?.named === undefined) oneSource(`input.${name}`, member);
      else for (const [own, one] of Object.entries(member as object)) oneSource(`input.${name}.${own}`, one);
    }
    return checked;
  };
  const checkParams = (value: unknown): CheckedRun["params"] => {
    const checked = params("params", value ?? {});
    valueSources(capability.params_schema, checked);
    return checked;
  };
  const checkRules = (rules: readonly Rule[], checked: CheckedRun): void => {
    const broken = brokenRule(rules, checked);
    if (broken) throw new ApiError("invalid_request", broken.message, { param: broken.param });
  };
  const check = (body: RunBody): CheckedRun => {
    const checked = { input: checkInput(body.input), params: checkParams(body.params) };
    checkRules(capability.rules, checked);
    return checked;
  };
  const faults: CheckRun["faults"] = (body, isOpen) => {
    const found = [...apiErrorsOf(() => checkInput(body.input)), ...apiErrorsOf(() => checkParams(body.params))];
    if (found.length > 0) return found;
    const rules = capability.rules.filter((rule) => !pathsOf(rule).some(isOpen));
    return apiErrorsOf(() => {
      checkRules(rules, { input: checkInput(body.input), params: checkParams(body.params) });
    });
  };
  return Object.assign(check, { faults });
}

type Members = Readonly<Record<string, unknown>>;

/** Compiles the check of `input` or `params`. The check returns a copy with defaults and without nulls of optional members. */
function compiled(ajv: Ajv, schema: Schema): (name: string, value: unknown) => Members {
  const validator = ajv.compile(schema);
  const shape = nullShapeOf(schema, noPart);
  return (name, value) => validMember(validator, name, copied(withoutNulls(value, shape, {})));
}

function noPart(name: string): never {
  throw new Error(`a capability refers to ${name}`);
}

/** Validates `input` or `params` of a body. @throws ApiError that names the invalid member */
function validMember(validator: ValidateFunction, name: string, value: unknown): Members {
  if (validator(value)) return value as Members;
  const errors = (validator.errors ?? [])
    .map(asNamed)
    .map((error) => ({ ...error, instancePath: `/${name}${error.instancePath}` }));
  const fault = describeFault(errors, { [name]: value }, ({ parentSchema }) =>
    Object.keys((parentSchema?.["properties"] as object | undefined) ?? {}),
  );
  throw new ApiError(fault.code, fault.message, { param: fault.param ?? name, cause: fault });
}

/**
 * Replaces an error from the union branch of another operation by a `const` mismatch. Ajv may report that `params` is missing before it
 * reports that the step names another operation. The error message ignores branches with a `const` mismatch.
 */
function asNamed(error: ErrorObject): ErrorObject {
  const { parentSchema, data, schemaPath, instancePath } = error;
  const branch = /^(.*\/anyOf\/\d+)\/[^/]+$/.exec(schemaPath)?.[1];
  if (branch === undefined || typeof data !== "object" || data === null) return error;
  const properties = (parentSchema?.["properties"] ?? {}) as Readonly<Record<string, { readonly const?: unknown }>>;
  const members = data as Readonly<Record<string, unknown>>;
  const other = Object.entries(properties).find(
    ([member, { const: only }]) => only !== undefined && Object.hasOwn(members, member) && members[member] !== only,
  );
  if (!other) return error;
  const [member, { const: allowedValue }] = other;
  return {
    keyword: "const",
    schemaPath: `${branch}/properties/${member}/const`,
    instancePath: `${instancePath}/${member}`,
    params: { allowedValue },
  };
}

/** Returns a deep copy, to which a validator may add defaults. Strings are shared: structuredClone would serialize megabytes of text. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]));
}

const SOURCES = ["file_id", "url", "base64", "text"];

/** Checks that each object in a member of `input` has exactly one of the members that can contain its data (`SOURCES`). */
function oneSource(path: string, member: unknown): void {
  if (Array.isArray(member)) {
    for (const [at, one] of member.entries()) oneSource(`${path}[${at}]`, one);
    return;
  }
  if (typeof member !== "object" || member === null) return;
  const presentSources = SOURCES.filter((source) => Object.hasOwn(member, source));
  if (presentSources.length === 1) return;
  const got = presentSources.length === 0 ? "none" : presentSources.join(" and ");
  throw new ApiError("invalid_request", `Expected ${path} to have exactly one of ${SOURCES.join(", ")}, got ${got}.`, {
    param: path,
  });
}

/**
 * Checks that a value is given by at most one of the params that can express it. The schema lists these params as `x-svc-value-sources`.
 */
function valueSources(schema: Schema, params: Readonly<Record<string, unknown>>): void {
  // Draft-07 annotations: a list of names, or several such lists.
  const groups = (schema["x-svc-value-sources"] ?? []) as readonly (string | readonly string[])[];
  const single = groups.filter((one) => typeof one === "string");
  const lists = [single, ...groups.filter((one) => typeof one !== "string")];
  for (const names of lists) {
    const broken = brokenRule([{ rule: "one", of: names.map((name) => `params.${name}`) }], { params });
    if (broken) throw new ApiError("invalid_request", broken.message, { param: broken.param });
  }
}

function missing(param: string): ApiError {
  return new ApiError("missing_required_parameter", `Missing required parameter: ${param}.`, { param });
}
