/** Types of the external programs that some engines run. They are installed on the system or packaged. */

export interface Tools {
  readonly chromium?: Chromium;
  readonly libreoffice?: LibreOffice;
}

export interface LibreOffice {
  /** Path of LibreOffice's program `soffice`. */
  readonly path: string;
  /** Path of bubblewrap's program `bwrap`, in which LibreOffice runs. */
  readonly bwrap: string;
}

export interface Chromium {
  readonly path: string;
  /** Folder of libraries that the system may lack; undefined if the system's libraries are used. */
  readonly libraries?: string;
  /** True if Chromium's own sandbox also works within the child's sandbox. */
  readonly hasSandbox?: boolean;
}
