/** Reads the values of a table of settings from an environment. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Server whose address most processes need to start. */
export type Server = "database" | "nats";

export interface Setting<Value> {
  /** Environment variables from which the setting is read. */
  readonly names: readonly string[];
  /** Default value, as it would be written in the variable. Empty if there is no default, or if it depends on other settings. */
  readonly usual: string;
  /** Accepted values, as a noun phrase for the reference of settings. Absent if any text is accepted. */
  readonly accepts?: string;
  /** Part of the variable's value that must never be printed. Undefined if the value is not secret. */
  readonly secret?: "value" | "password" | undefined;
  /** Reads the value of the setting. If the variable is missing or malformed, adds a fault and returns a fallback. */
  readonly read: (reader: Reader) => Value;
}

/** Settings by the names of their fields in Config. Fields may be grouped. */
export interface Table {
  readonly [field: string]: Setting<unknown> | Table;
}

/** Type of the values of all settings in a table. */
export type Values<Rows> = {
  readonly [Field in keyof Rows]: Rows[Field] extends Setting<infer Value> ? Value : Values<Rows[Field]>;
};

export interface Reader {
  /** Servers whose address is required. */
  readonly needs: readonly Server[];
  /** Returns the text of a variable; undefined when it is unset or empty. */
  readonly text: (name: string) => string | undefined;
  /** Returns the value of a setting. Each setting is read only once, even if several other settings depend on it. */
  readonly value: <Value>(setting: Setting<Value>) => Value;
  readonly addFault: (sentence: string) => void;
}

/**
 * Creates the reader for the settings of an environment.
 * @param faults receives a sentence for each missing or malformed setting
 */
export function createReader(environment: Environment, needs: readonly Server[], faults: string[]): Reader {
  const values = new Map<Setting<unknown>, unknown>();
  const reader: Reader = {
    needs,
    text: (name) => environment[name]?.trim() || undefined,
    value: <Value>(setting: Setting<Value>) => {
      if (!values.has(setting)) values.set(setting, setting.read(reader));
      return values.get(setting) as Value;
    },
    addFault: (sentence) => faults.push(sentence),
  };
  return reader;
}

/** Reads the values of all settings in a table. The result and its groups are frozen. */
export function readTable<Rows extends Table>(table: Rows, reader: Reader): Values<Rows> {
  const values = Object.entries(table).map(([field, row]) => [
    field,
    isSetting(row) ? reader.value(row) : readTable(row, reader),
  ]);
  return Object.freeze(Object.fromEntries(values)) as Values<Rows>;
}

export function listSettings(table: Table): Setting<unknown>[] {
  return Object.values(table).flatMap((row) => (isSetting(row) ? [row] : listSettings(row)));
}

function isSetting(row: Setting<unknown> | Table): row is Setting<unknown> {
  return typeof row.read === "function";
}
