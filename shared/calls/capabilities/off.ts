/** Engines that are off until operators switch them on, each with what does so. */
export const OFF_BY_DEFAULT: Readonly<Record<string, string>> = { python: "Set SLUICE_PYTHON=on." };

/** Engines that stand on what a machine may lack: their capabilities are listed once a worker has told that it has it. */
export const NOT_PACKAGED: ReadonlySet<string> = new Set(["browser", "libreoffice"]);
