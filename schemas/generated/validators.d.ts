import type { SchemaName } from "./types.ts";

/** The members of an Ajv error that the generated code fills in. */
export interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The name at fault when the error is about a member's name. */
  readonly propertyName?: string;
}

export interface Validator {
  (value: unknown): boolean;
  /** Faults of the last call that returned false; overwritten by the next call. */
  errors?: readonly SchemaError[] | null;
}

export const validators: Readonly<Record<SchemaName, Validator>>;
