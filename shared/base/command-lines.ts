/**
 * Command lines that messages recommend. In a checkout they are npm scripts. The container image has neither npm nor the file that the
 * scripts run.
 */
import { existsSync } from "node:fs";

/** True in a checkout of the repository. The container image does not contain this file. */
export const HAS_NPM = existsSync(new URL("../../deploy/bun.mjs", import.meta.url));

export const SLUICE = HAS_NPM ? "npm run sluice --" : "bun deploy/sluice.ts";
export const ADMIN = HAS_NPM ? "npm run admin --" : "bun deploy/sluice.ts admin";
