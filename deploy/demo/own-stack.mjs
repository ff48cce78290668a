// @ts-check
/** A stack for the time of the demonstration: `npm start` as a child, stopped when everything is done. */
import { StartFault } from "../embedded/fault.mjs";
import { launch, LaunchError, launchUntil } from "../embedded/process.mjs";
import { runningStack } from "../supervisor/address.mjs";

/** The first start on a machine fetches Bun, NATS and the packages. */
const READY_WITHIN_MS = 15 * 60_000;
/** Above the sum of the graces that the roles and servers have. */
const STOPPED_WITHIN_MS = 120_000;

/**
 * @param {object} options
 * @param {string} options.root
 * @param {string} options.dataDir
 * @param {(text: string) => void} options.progress
 * @param {(stop: () => Promise<unknown>) => void} options.onLaunch told how to end it as soon as there is something to end
 * @returns {Promise<import("../supervisor/address.mjs").Address>}
 * @throws {StartFault} with the stack's own sentence when it does not start
 */
export async function startOwnStack({ root, dataDir, progress, onLaunch }) {
  const env = {
    ...process.env,
    SLUICE_DATA_DIR: dataDir,
    // Nobody else is to call it, so no port that somebody may have is needed.
    PORT: process.env["PORT"] ?? "0",
    SLUICE_HOST: process.env["SLUICE_HOST"] ?? "127.0.0.1",
    SLUICE_ADMIN_PORT: process.env["SLUICE_ADMIN_PORT"] ?? "0",
    SLUICE_LOG_FORMAT: "json",
  };
  let isReady = false;
  const command = { name: "npm start", command: process.execPath, args: ["deploy/start.mjs"], cwd: root, env };
  try {
    await launchUntil(
      (onLine) => {
        const running = launch({ ...command, onLine });
        onLaunch(() => running.stop("SIGTERM", STOPPED_WITHIN_MS));
        return running;
      },
      (line) => {
        const said = ownWords(line);
        // What it says later is about its stop, which is ours and no news.
        if (isReady || said === null) return null;
        isReady = said === "ready";
        if (!isReady) progress(said);
        return isReady || null;
      },
      READY_WITHIN_MS,
    );
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const sentence = error.lines.find((line) => line.startsWith("sluice: "))?.slice("sluice: ".length);
    throw new StartFault(sentence ?? error.message);
  }
  const address = runningStack(dataDir);
  if (address === null) throw new StartFault("The stack started and did not say where it is.");
  return address;
}

/**
 * Message of the supervisor in a line of the log; null for lines of others, as the roles say `ready` too.
 * @param {string} line
 * @returns {string | null}
 */
function ownWords(line) {
  if (!line.startsWith("{")) return null;
  try {
    const { role, msg } = JSON.parse(line);
    return role === "start" ? String(msg) : null;
  } catch {
    return null;
  }
}
