import type { Route } from "../serve.ts";
export function docs(_routes: readonly Route[]): readonly Route[] { return []; }
