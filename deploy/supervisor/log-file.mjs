// @ts-check
/** Log file of `npm start`, in its data folder. */
import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { reasonOf, StartFault } from "../embedded/fault.mjs";

/** Maximum size of the log file, in bytes. A full file is renamed to `<name>.1` and a new one is started. */
const FILE_BYTES_MAX = 64 * 1_048_576;

/**
 * Open log file.
 * @typedef {object} LogFile
 * @property {string} path absolute
 * @property {(text: string) => string} write appends one or several lines and returns `<path>:<line number of the first of them>`. If the
 * file cannot be written, it returns the path and the reason. Never throws
 * @property {() => void} close
 */

/**
 * Opens a new file. The file of the last start is kept as `<path>.1`. Writes are synchronous: the lines before a crash are the ones that
 * matter.
 * @param {string} path
 * @param {number} [bytesMax]
 * @returns {LogFile}
 * @throws {StartFault} if the file cannot be created
 */
export function openLogFile(path, bytesMax = FILE_BYTES_MAX) {
  let file = beginOrFail(path);
  let lines = 0;
  let bytes = 0;
  const put = (/** @type {string} */ text) => {
    if (bytes > bytesMax) {
      const next = begin(path);
      closeSync(file);
      file = next;
      lines = 0;
      bytes = 0;
    }
    bytes += writeSync(file, `${text}\n`);
    lines += text.split("\n").length;
  };
  return {
    path,
    write(text) {
      try {
        put(text);
        return `${path}:${lines - text.split("\n").length + 1}`;
      } catch (error) {
        // A full disk or a deleted folder must not end the service: its lines are lost until the file can be written again.
        return `${path} (not written: ${reasonOf(error)})`;
      }
    },
    close: () => closeSync(file),
  };
}

/**
 * Renames an existing file to `<path>.1` and creates an empty one.
 * @param {string} path
 * @returns {number} descriptor of the empty file
 */
function begin(path) {
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
  }
  return openSync(path, "a", 0o600);
}

/**
 * Runs `begin`, and converts its error to a message for the operator.
 * @param {string} path
 * @throws {StartFault} if the file cannot be created
 */
function beginOrFail(path) {
  try {
    return begin(path);
  } catch (error) {
    throw new StartFault(
      `The log file ${path} cannot be written (${reasonOf(error)}); make it writable for this user, or set SLUICE_DATA_DIR to another folder.`,
    );
  }
}
