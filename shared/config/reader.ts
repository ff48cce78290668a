/** Tables of settings, and the values that an environment gives them. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Servers without which most processes cannot start. */
export type Server = "database" | "nats";

export interface Setting<Value> {
  /** Variables of the environment that it is read from. */
  readonly names: readonly string[];
  /** Its default, as a variable says it; empty: none, or one that follows other settings. */
  readonly usual: string;
  /** Accepted values, as a noun phrase for the reference of settings; absent: any text. */
  readonly accepts?: string;
  /** The part of its variables that must never be printed. */
  readonly secret?: "value" | "password" | undefined;
  /** Adds a fault when its variable is missing or malformed, and returns a fallback then. */
  readonly read: (reader: Reader) => Value;
}

/** Settings by the names of their fields, some of them in groups. */
export interface Table {
  readonly [field: string]: Setting<unknown> | Table;
}

/** The values of a table's settings. */
export type Values<Rows> = {
  readonly [Field in keyof Rows]: Rows[Field] extends Setting<infer Value> ? Value : Values<Rows[Field]>;
};

export interface Reader {
  /** Servers whose address must be set. */
  readonly needs: readonly Server[];
  /** Text of a variable; undefined when it is unset or empty. */
  readonly text: (name: string) => string | undefined;
  /** Value of a setting, which is read once however many others follow it. */
  readonly value: <Value>(setting: Setting<Value>) => Value;
  readonly addFault: (sentence: string) => void;
}

/** @param faults gets a sentence for each setting that is missing or malformed */
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

/** The values of all settings of a table, frozen, groups too. */
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
