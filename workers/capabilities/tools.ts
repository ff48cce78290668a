/** Programs outside of our packages, or packed within them, that some engines run. */

export interface Tools {
  readonly chromium?: Chromium;
  readonly libreoffice?: LibreOffice;
}

export interface LibreOffice {
  /** Path of its program `soffice`. */
  readonly path: string;
  /** Path of bubblewrap's program `bwrap`, which it runs in. */
  readonly bwrap: string;
}

export interface Chromium {
  readonly path: string;
  /** Folder of libraries that the system may lack; the system's own are used if absent. */
  readonly libraries?: string;
  /** Its own sandbox stands here, within the one of the child. */
  readonly hasSandbox?: boolean;
}
