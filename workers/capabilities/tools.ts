/** Programs outside of our packages, or packed within them, that some engines run. */

export interface Tools {
  readonly chromium?: Chromium;
  /** Path of LibreOffice's program. */
  readonly soffice?: string;
}

export interface Chromium {
  readonly path: string;
  /** Where libraries lie that it may lack here; the system's where it is not given. */
  readonly libraries?: string;
}
