/** What the sandbox can draw, by its English name. */
import type { Thing } from "./thing.ts";
import { IN_AIR } from "./things-in-air.ts";
import { MADE } from "./things-made.ts";
import { ON_LAND } from "./things-on-land.ts";

export const THINGS: Readonly<Record<string, Thing>> = { ...IN_AIR, ...ON_LAND, ...MADE };
