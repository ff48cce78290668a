// @ts-check
/**
 * Log of all processes. Converts their JSON lines to `HH:MM:SS role level message key=value`, and writes them to a file and the terminal.
 */

/** Maximum buffered terminal output, in bytes. Further lines are only counted, not printed. */
const BUFFER_BYTES = 1_048_576;
const VALUE_CHARACTERS = 500;
const LINE_CHARACTERS = 4_000;
/** Members of a log entry that are not printed as `key=value`: they have a fixed position in the line, or are of no use to a reader. */
const HIDDEN = new Set(["time", "level", "role", "pid", "hostname", "msg"]);
/** @type {Record<string, string>} */
const COLOURS = { trace: "90", debug: "90", info: "32", warn: "33", error: "31", fatal: "31" };
/** @type {Record<string, string>} */
const LEVEL_NUMBERS = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };

/**
 * Log level of the supervisor's messages.
 * @typedef {"info" | "warn" | "error"} Level
 */

/**
 * Functions that write to the log.
 * @typedef {object} Log
 * @property {(level: Level, msg: string, fields?: Record<string, unknown>, role?: string) => string} say logs a message of the supervisor
 * and returns its position in the file; errors are also printed on the terminal
 * @property {(role: string, line: string, stream: "stdout" | "stderr") => void} relay logs a line of a child process; errors are also
 * printed on the terminal
 * @property {(text: string) => void} notify logs a message and prints it on the terminal
 * @property {(text: string) => void} plain prints a text only on the terminal; does nothing in JSON mode
 */

/**
 * Creates the log.
 * @param {object} options
 * @param {boolean} options.json true to print every line as JSON instead of text
 * @param {boolean} options.verbose true to print every line, not only errors and notices
 * @param {boolean} options.colour
 * @param {{ write(text: string): unknown, readonly writableLength: number }} options.out the terminal
 * @param {Pick<import("./log-file.mjs").LogFile, "write">} options.file receives every line
 * @returns {Log}
 */
export function createLog({ json, verbose, colour, out, file }) {
  let dropped = 0;
  const print = (/** @type {string} */ text) => {
    if (out.writableLength > BUFFER_BYTES) {
      dropped += 1;
      return;
    }
    if (dropped > 0) {
      const lost = dropped;
      dropped = 0;
      say("warn", `${lost} log lines were not printed because the output is not read`);
    }
    out.write(`${text}\n`);
  };
  /**
   * Writes a log entry to the file and, if required, to the terminal.
   * @param {Record<string, unknown>} entry
   * @param {string} role
   * @param {string} line the entry as JSON
   * @returns {string} position of the entry in the file
   */
  const put = (entry, role, line) => {
    const place = file.write(json ? line : render(entry, role, false));
    if (json) print(line);
    else if (verbose) print(render(entry, role, colour));
    else if (isError(entry)) print(render({ ...entry, log: place }, role, colour));
    return place;
  };
  /** @type {Log["say"]} */
  const say = (level, msg, fields = {}, role = "start") => {
    const entry = { level, time: new Date().toISOString(), role, msg, ...fields };
    return put(entry, role, JSON.stringify(entry));
  };
  return {
    say,
    relay(role, line, stream) {
      const entry = parse(line);
      if (entry !== null) put(entry, role, line);
      else if (line.trim() !== "") say(stream === "stderr" ? "warn" : "info", printable(line), {}, role);
    },
    notify(text) {
      say("info", text);
      if (!json && !verbose) print(text);
    },
    plain(text) {
      if (!json) print(text);
    },
  };
}

/**
 * Returns true for an entry of level error or fatal.
 * @param {Record<string, unknown>} entry
 */
function isError(entry) {
  const level = word(entry["level"]);
  return ["error", "fatal"].includes(LEVEL_NUMBERS[level] ?? level);
}

/**
 * Parses a log line.
 * @param {string} line
 * @returns {Record<string, unknown> | null} null when the line is not a JSON object
 */
function parse(line) {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/**
 * Formats a log entry as text.
 * @param {Record<string, unknown>} entry
 * @param {string} role
 * @param {boolean} colour
 * @returns {string}
 */
function render(entry, role, colour) {
  const given = word(entry["level"]);
  const level = LEVEL_NUMBERS[given] ?? given;
  const time = new Date(/** @type {string | number} */ (entry["time"] ?? Date.now()));
  const clock = Number.isNaN(time.getTime()) ? "--:--:--" : time.toTimeString().slice(0, 8);
  const paint = (/** @type {string} */ code, /** @type {string} */ text) =>
    colour ? `\u001B[${code}m${text}\u001B[0m` : text;
  let text = printable(word(entry["msg"]));
  for (const [name, value] of Object.entries(entry)) {
    if (!HIDDEN.has(name) && value !== undefined) text += ` ${paint("90", `${printable(name)}=`)}${renderValue(value)}`;
  }
  const head = `${paint("90", clock)} ${paint("36", role.padEnd(8))} ${paint(COLOURS[level] ?? "0", level.padEnd(5))}`;
  return `${head} ${text.slice(0, LINE_CHARACTERS)}${renderStack(entry)}`;
}

/**
 * Formats a value of a log entry as text.
 * @param {unknown} value
 * @returns {string}
 */
function renderValue(value) {
  const message = typeof value === "object" && value !== null && "message" in value ? value.message : value;
  if (typeof message === "string" && /^[\w.:/@+-]+$/.test(message)) return message.slice(0, VALUE_CHARACTERS);
  return (JSON.stringify(message) ?? String(message)).slice(0, VALUE_CHARACTERS);
}

/**
 * Returns text or a number as text.
 * @param {unknown} value
 * @returns {string} empty for values of other types
 */
function word(value) {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/**
 * Returns the stack trace of a log entry's error, indented; empty if the entry has none.
 * @param {Record<string, unknown>} entry
 * @returns {string}
 */
function renderStack(entry) {
  const err = entry["err"];
  if (typeof err !== "object" || err === null || !("stack" in err) || typeof err.stack !== "string") return "";
  const frames = err.stack.split("\n").filter((line) => line.trimStart().startsWith("at "));
  return frames
    .slice(0, 12)
    .map((line) => `\n    ${printable(line.trim())}`)
    .join("");
}

/**
 * Replaces control characters, which could change the terminal.
 * @param {string} text
 * @returns {string}
 */
function printable(text) {
  // oxlint-disable-next-line no-control-regex -- removes them
  return text.replaceAll(/[\u0000-\u0008\u000A-\u001F\u007F-\u009F]/g, " ");
}
