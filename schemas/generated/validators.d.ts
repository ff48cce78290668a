import type { SchemaName } from "./types.ts";

/** Members of an Ajv error that the generated validators set. */
export interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Name of the invalid member, when the error is about a member's name. */
  readonly propertyName?: string;
}

export interface Validator {
  (value: unknown): boolean;
  /** Errors of the last call that returned false. The next call overwrites them. */
  errors?: readonly SchemaError[] | null;
}

export const validators: Readonly<Record<SchemaName, Validator>>;
