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
  /** Where libraries lie that it may lack here; the system's where it is not given. */
  readonly libraries?: string;
  /** Its own sandbox stands here, within the one of the child. */
  readonly hasSandbox?: boolean;
}
