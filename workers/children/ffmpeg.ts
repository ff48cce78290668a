import type * as Constants from "node-av/constants";
import type * as Library from "node-av/lib";

import { MediaError } from "#shared/children/media-error.ts";

/**
 * FFmpeg's library, whose binary is a package of its own for each system. For child processes only: a fault in it must not
 * take a server along.
 * @throws MediaError failed, where no binary is installed
 */
export async function loadFfmpeg(): Promise<{
  lib: typeof Library;
  constants: typeof Constants;
}> {
  try {
    const [lib, constants] = await Promise.all([import("node-av/lib"), import("node-av/constants")]);
    lib.Log.setLevel(constants.AV_LOG_QUIET);
    return { lib, constants };
  } catch (error) {
    throw new MediaError("failed", "FFmpeg is not installed for this system (package node-av)", { cause: error });
  }
}
