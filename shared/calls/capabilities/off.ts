/** Engines that are disabled until operators enable them, each with the instruction. */
export const OFF_BY_DEFAULT: Readonly<Record<string, string>> = { python: "Set SLUICE_PYTHON=on." };

/** Engines that need software which a machine may lack: their capabilities are listed once a worker has reported them. */
export const NOT_PACKAGED: ReadonlySet<string> = new Set(["browser", "libreoffice"]);
